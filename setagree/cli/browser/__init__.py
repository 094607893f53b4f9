"""Agreement in the browser: a static page that runs this package, so that data stay where they are.

`writing` puts the page into a folder, `wheel` packs the package for it, `serving` hands the folder
out on this computer, and `session` is what answers inside the browser. Nothing here needs typer.
"""
