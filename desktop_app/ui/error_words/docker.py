"""Words for errors of Docker engines and of the workspaces in their containers."""

from desktop_app.ui.i18n import mark

WORDS: dict[str, tuple[str, str, str, str]] = {
    "docker.none": (
        mark("Docker was not found"),
        mark("No Docker engine is installed here, or it has not been started yet."),
        mark("Install Docker Desktop, Colima, OrbStack or Podman and start it, then try again."),
        "retry",
    ),
    "docker.colima": (
        mark("Colima runs without Docker"),
        mark("It was started with containerd, which has no socket that Slipway can use."),
        mark("Start it anew with: colima start --runtime docker"),
        "retry",
    ),
    "docker.not_running": (
        mark("Docker is not running"),
        mark("Nothing answers at {engine}."),
        mark("Start Docker, then try again. The sessions are saved."),
        "retry",
    ),
    "docker.denied": (
        mark("Docker does not let you in"),
        mark("This user may not use {engine}."),
        mark(
            "On Linux add yourself to the group docker (sudo usermod -aG docker $USER), then log"
            " out and in again."
        ),
        "retry",
    ),
    "docker.silent": (
        mark("Docker does not answer"),
        mark("{engine} accepts connections but said nothing in {seconds} seconds."),
        mark("Restart Docker, then try again."),
        "retry",
    ),
    "docker.endpoint": (
        mark("Not an address of a Docker engine"),
        mark("“{engine}”: {detail}"),
        mark("Correct DOCKER_HOST or the Docker context."),
        "",
    ),
    "docker.spec": (
        mark("A setting of the container cannot be used"),
        mark("Its “{field}” is not valid."),
        mark("Correct it in the workspace's settings."),
        "",
    ),
    "docker.ca": (
        mark("The certificates cannot be read"),
        mark("“{path}”: {detail}"),
        mark("Choose a file with certificates in PEM form."),
        "",
    ),
    "docker.build": (
        mark("The image could not be built"),
        mark("It failed at “{command}”:\n{detail}"),
        mark("Correct the base image or the packages, then try again."),
        "retry",
    ),
    "docker.untrusted": (
        mark("A server of packages is not trusted"),
        mark("Its certificate was not accepted at “{command}”:\n{detail}"),
        mark("Give your company's certificates under Own certificates, then try again."),
        "retry",
    ),
    "docker.offline": (
        mark("The packages cannot be reached"),
        mark("No server answered at “{command}”:\n{detail}"),
        mark("Check your connection and what Docker may reach, then try again."),
        "retry",
    ),
    "docker.no_image": (
        mark("The base image was not found"),
        mark("The engine says: {detail}"),
        mark("Check its name and your connection."),
        "retry",
    ),
    "docker.no_python": (
        mark("The container has no Python"),
        mark("Slipway works in it through python3, which cannot be started: {detail}"),
        mark("Choose a base image with Python 3.8 or newer."),
        "",
    ),
    "docker.mount": (
        mark("The folder of this workspace is not there"),
        mark("“{path}” is shown to the container at /workspace and cannot be found."),
        mark("Connect its disk or put it back, then try again. The sessions are kept."),
        "retry",
    ),
    "docker.port": (
        mark("A port is taken"),
        mark("Another program uses a port of the container: {detail}"),
        mark("Try again; another one is taken then."),
        "retry",
    ),
    "docker.gone": (
        mark("The container is gone"),
        mark("Somebody removed it: {detail}"),
        mark("Try again to make a new one. The sessions are kept."),
        "retry",
    ),
    "docker.paused": (
        mark("The container is paused"),
        mark("Nothing runs in it until it is resumed."),
        mark("Resume it."),
        "retry",
    ),
    "docker.failed": (
        mark("Docker refused"),
        mark("The engine says ({status}): {detail}"),
        "",
        "retry",
    ),
}
