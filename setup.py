"""The wheel's bill of materials; everything else about the package is in pyproject.toml.

setuptools has no setting for the folder ``.dist-info/sboms`` of PEP 770 yet, and copies what lies in its metadata.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.egg_info import egg_info


def bill_of_materials(distribution: Distribution) -> dict:
    """The package and what it requires, as CycloneDX; without dates and random numbers, so that builds are equal."""
    name, version = distribution.get_name(), distribution.get_version()
    package = f"pkg:pypi/{name}@{version}"
    required = {}
    for requirement in distribution.install_requires:
        other, bounds = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement).groups()
        reference = f"pkg:pypi/{other.lower().replace('_', '-')}"
        required[reference] = {
            "type": "library",
            "bom-ref": reference,
            "name": other,
            "purl": reference,
            # The installer chooses the version, within these bounds.
            "properties": [{"name": "python:requires", "value": bounds}],
        }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": package,
                "name": name,
                "version": version,
                "purl": package,
                "licenses": [{"license": {"id": distribution.metadata.license_expression}}],
            }
        },
        "components": [required[reference] for reference in sorted(required)],
        "dependencies": [
            {"ref": package, "dependsOn": sorted(required)},
            *({"ref": each} for each in sorted(required)),
        ],
    }


class MetadataWithBill(egg_info):
    """The metadata, with the bill of materials beside them."""

    def run(self) -> None:
        """Write both."""
        super().run()
        folder = Path(self.egg_info, "sboms")
        folder.mkdir(exist_ok=True)
        text = json.dumps(bill_of_materials(self.distribution), indent=1) + "\n"
        (folder / f"{self.distribution.get_name()}.cdx.json").write_text(text, encoding="utf-8")


setup(cmdclass={"egg_info": MetadataWithBill})
