"""A browser for the pages: Chromium (Debian: `apt-get install chromium`), and Playwright, which only drives it."""

import importlib.util
import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_browser = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="no chromium on this machine (apt-get install chromium), or no playwright (pip install '.[test]')",
)
"""Marks tests that need the browser."""


@pytest.fixture(scope="session")
def browser():
    from playwright import sync_api

    with sync_api.sync_playwright() as driver:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens a page; whatever it complains of, or asks the network for, fails the test."""
    contexts, said = [], []

    def open_it(address, width=1200, scheme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        own = (address.partition("#")[0], f"blob:{address[:4]}")  # a page may make a file of its own
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(own) else None)
        page.goto(address)
        if options.get("java_script_enabled", True) and page.locator("script").count():
            page.wait_for_selector("#controls:not([hidden])")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert said == []
