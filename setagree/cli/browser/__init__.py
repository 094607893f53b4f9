"""Agreement in the browser: a static page that runs this package, so that no data are uploaded.

`writing` writes the page into a folder, `wheel` packs the package for it, `serving` serves the
folder on this computer, and `session` runs in the browser. No module requires typer.
"""
