"""Measure the wait between key and picture on the annotator's page, on a server of its own.

    PYTHONPATH=tests python -m support.waiting

For two networks it prints the median milliseconds from Enter to the next query, and from there to
the first picture of its clip: on the page as it is, and with the next clip named in each task,
which the browser may then fetch early. The network is slow once the page has been loaded.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from opened import STANDARD
from playwright.sync_api import Page
from support.browser import Person, annotator
from support.studio import Studio, studio

from annotation.label_studio import guideline
from annotation.label_studio.page import label_config, task_data
from annotation.label_studio.records import OPTIONS
from annotation.local_server import layout
from pipeline.video.ffmpeg import ffmpeg

REPOSITORY = Path(__file__).parents[2]
TASKS, LOOKING = 16, 2_000
"""Tasks of each run, and milliseconds for which a clip is looked at."""
NETWORKS = {"40 ms, 10 Mbit/s": (40, 10), "100 ms, 2 Mbit/s": (100, 2)}
VARIANTS = {
    "as it is": "",
    "link rel=prefetch": '<link rel="prefetch" href="{}">',
    "hidden video": '<video src="{}" preload="auto" muted></video>',
}
SHOWN = "  <Collapse>"
HIDDEN = '  <View style="display: none"><HyperText name="n" value="$next" inline="true"/></View>\n'
WATCH = """() => {
    const find = name => document.querySelector(`.momentrank ${name}`);
    const text = find('h3').textContent, clip = find('video').src;
    window.times = {};
    document.addEventListener('keydown', event => {
        if (event.key === 'Enter') times.key ??= performance.now();
    }, true);
    const look = () => {
        if ((find('h3')?.textContent ?? text) !== text) times.query ??= performance.now();
        const video = find('video');
        if (video && video.src !== clip && video.readyState >= 2) times.clip = performance.now();
        else requestAnimationFrame(look);
    };
    look();
}"""


def make_clips(folder: Path, number: int) -> None:
    """Make clips of 6 s, 854 by 480, each different."""
    folder.mkdir(parents=True, exist_ok=True)
    source = "testsrc2=size=854x480:rate=24:duration=6"
    for clip in range(number):
        subprocess.run(
            [ffmpeg(), "-v", "error", "-y", "-f", "lavfi", "-i", source, "-vf", f"hue=h={clip}",
             "-preset", "veryfast", "-crf", "30", "-movflags", "+faststart", "-pix_fmt", "yuv420p",
             folder / f"{clip}.mp4"],
            check=True,
        )  # fmt: skip


def make_project(lead: Studio, first: int, ahead: str) -> int:
    """Make a project whose tasks begin with a clip; each fetches the next one `ahead`."""
    guide = guideline.current(STANDARD)
    config = label_config(guide)
    if ahead:
        config = config.replace(SHOWN, HIDDEN + SHOWN)
    project = lead.project("Wait", config, expert_instruction=guide.html, **OPTIONS)
    lead.storage(project, lead.media / "clips")
    urls = [f"/data/local-files/?d=clips/{first + at}.mp4" for at in range(TASKS + 1)]
    tasks = [task_data(f"query {at}", urls[at], f"{project} {at}") for at in range(TASKS)]
    more = {"next": ahead} if ahead else {}
    lead.add(
        project,
        [
            {**task, **{name: html.format(url) for name, html in more.items()}}
            for task, url in zip(tasks, urls[1:], strict=True)
        ],
    )
    return project


def limit_network(page: Page, latency: float, megabits: float) -> None:
    """Slow the page's network down."""
    session, rate = page.context.new_cdp_session(page), megabits * 1e6 / 8
    session.send("Network.enable")
    limits = {"offline": False, "latency": latency}
    limits |= {"downloadThroughput": rate, "uploadThroughput": rate}
    session.send("Network.emulateNetworkConditions", limits)


def measure(person: Person, project: int, network: tuple[float, float]) -> tuple[float, float]:
    """Judge a project's tasks; return the median milliseconds to the query, and to the picture."""
    person.begin(project)
    limit_network(person.page, *network)
    waits = []
    for task in range(TASKS - 1):
        person.sees(f"query {task}")
        person.page.wait_for_function("document.querySelector('video')?.readyState >= 2")
        person.page.wait_for_timeout(LOOKING)
        person.page.evaluate(WATCH)
        person.press("3", "Enter")
        person.page.wait_for_function("times.clip")
        waits.append(person.page.evaluate("[times.query - times.key, times.clip - times.query]"))
    query, picture = map(statistics.median, zip(*waits, strict=True))
    return query, picture


def main() -> None:
    """Measure each variant on each network."""
    runs = [(network, variant) for network in NETWORKS for variant in VARIANTS]
    environment = REPOSITORY / layout.PROGRAM.parts[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder), environment) as lead,
        annotator(lead.url) as person,
    ):
        clips = lead.media / "clips"
        make_clips(clips, len(runs) * TASKS + 1)
        size = statistics.median(clip.stat().st_size for clip in clips.iterdir()) / 1000
        sys.stdout.write(f"clips of {size:.0f} kB; to the query, from it to the picture (ms)\n")
        person.sign_up(lead.invite(), "ann@example.org")
        for at, (network, variant) in enumerate(runs):
            person.log_in("ann@example.org")
            project = make_project(lead, at * TASKS, VARIANTS[variant])
            query, picture = measure(person, project, NETWORKS[network])
            sys.stdout.write(f"{network:18} {variant:18} {query:6.0f} {picture:6.0f}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
