"""Nodes that hold the images of the pod."""

from __future__ import annotations

from collections.abc import Iterator

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.scores.score import FULL, Grades, Score, split

__all__ = ["ImageLocalityScore", "images_of"]

_MEBIBYTE = 1024 * 1024
_LEAST = 23 * _MEBIBYTE
"""What is pulled so fast that having it makes no difference."""
_MOST_PER_IMAGE = 1000 * _MEBIBYTE


class ImageLocalityScore(Score):
    """The more bytes are there already, the better. Images that few nodes hold count less, lest pods pile up there."""

    plugin = "ImageLocality"

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """By the sum over the images that a node holds."""
        images = list(images_of(applicant.pod))
        raw: Grades = {0: nodes}
        for image in images:
            holders = self._indexes.images.listing(image)
            if holders & nodes:
                raw = split(raw, {self._worth(image, holders): holders})
        most = _MOST_PER_IMAGE * len(images)
        grades: dict[int, int] = {}
        for worth, members in raw.items():
            points = FULL * (min(max(worth, _LEAST), most) - _LEAST) // (most - _LEAST) if images else 0
            grades[points] = grades.get(points, 0) | members
        return grades

    def _worth(self, image: str, holders: int) -> int:
        """The size of an image, as the first node says that holds it, by how common it is."""
        listed = self._snapshot.node(next(bits(holders))).node.status.images
        size = next(each.size_bytes for each in listed if image in each.names)
        return int(size * (holders.bit_count() / self._snapshot.present.bit_count()))


def images_of(pod: Pod) -> Iterator[str]:
    """The images of containers and volumes, each with a tag."""
    spec = pod.spec
    for container in (*spec.init_containers, *spec.containers):
        yield _with_tag(container.image)
    for volume in spec.volumes:
        if volume.image is not None:
            yield _with_tag(volume.image.reference)


def _with_tag(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
