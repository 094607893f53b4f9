// Runs Python beside the page. The page makes it from a blob, so that its policy holds here too.
"use strict";

let python, session, place, drawing;

const said = (text, part) => postMessage({ stage: text, part });

/* Load packages of the runtime, with a line for each. */
async function load(names, first, last) {
  let done = 0;
  const messageCallback = (text) => {
    const [, name] = text.match(/^Loaded (.*)/) || [];
    if (name === undefined) return;
    done = Math.min(done + 1, 9);
    said(`Loaded ${name}.`, first + ((last - first) * done) / 10);
  };
  said(`Loading ${names.join(", ")} …`, first);
  await python.loadPackage(names, { messageCallback, errorCallback: () => {} });
  const absent = names.filter((name) => !(name in python.loadedPackages));
  if (absent.length) throw new Error(`the runtime has no ${absent.join(", ")}`);
}

const actions = {
  async start({ runtime, wheel, numbers, drawing: later }) {
    [place, drawing] = [runtime, later];
    said("Loading Python …", 0.05);
    importScripts(`${runtime}pyodide.js`);
    python = await loadPyodide({ indexURL: runtime });
    await load(numbers, 0.3, 0.8);
    said("Loading setagree …", 0.85);
    python.unpackArchive(await (await fetch(wheel)).arrayBuffer(), "wheel");
    said("Starting …", 0.9);
    session = python.runPython("from setagree.cli.browser.session import Session\nSession()");
    // What the first table would have to load is loaded now.
    actions.give({ name: "first.csv", bytes: new TextEncoder().encode("unit,rater,labels\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n") });
    actions.ask({ what: "read", path: "/data/first.csv", how: {} });
    actions.ask({ what: "table", without: [], merged: [] });
  },
  give({ name, bytes }) {
    python.FS.mkdirTree("/data");
    python.FS.writeFile(`/data/${name}`, new Uint8Array(bytes));
  },
  ask(question) {
    return JSON.parse(session.answer(JSON.stringify(question)));
  },
  async keep(question) {
    if (question.what === "report") await load(drawing, 0.1, 0.4);
    said("Writing the file …", 0.5);
    const file = session.file(JSON.stringify(question));
    const bytes = file.toJs();
    file.destroy();
    return bytes;
  },
};

/* Say what went wrong in words; Python's last line is its sentence. */
function worded(action, error) {
  const line = String(error.message ?? error).trim().split("\n").at(-1).replace(/^[\w.]+Error: /, "");
  if (action === "start" || drawing.some((name) => line.includes(`no ${name}`)))
    return `The Python runtime could not be loaded from ${place} (${line}). Check the network. A page written with “setagree page FOLDER --runtime” and a folder of Pyodide needs none.`;
  return line;
}

let turn = Promise.resolve(); // one at a time, in the order they came
onmessage = ({ data: { id, action, given } }) => {
  turn = turn.then(async () => {
    try {
      postMessage({ id, answer: await actions[action](given) });
    } catch (error) {
      postMessage({ id, failed: worded(action, error) });
    }
  });
};
