"""Reads the files of packages as the build tools do, and says what they declare.

    packages.py KIND FOLDER

KIND is arduino or platformio (PlatformIO's own parser and rules), esp-idf (Espressif's), or zephyr: its rules for
module.yml (docs: Modules, "Module yaml file description"), and Kconfig by kconfiglib.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def platformio(folder):
    from platformio.package.manifest import schema
    from platformio.package.manifest.parser import ManifestParserFactory

    # The list of licences is on the net.
    known = {"licenses": [{"licenseId": name} for name in ("CC0-1.0", "MIT-0")]}
    schema.ManifestSchema.load_spdx_licenses = staticmethod(lambda: known)
    parsed = ManifestParserFactory.new_from_dir(str(folder))
    return schema.ManifestSchema().load_manifest(parsed.as_dict())


def esp_idf(folder):
    import yaml

    code = "from idf_component_manager.cli import safe_cli; safe_cli()"
    compote = [sys.executable, "-c", code, "manifest", "lint", str(folder)]
    subprocess.run(compote, check=True, stdout=sys.stderr)
    return yaml.safe_load((folder / "idf_component.yml").read_text())


def zephyr(folder):
    import kconfiglib
    import yaml

    module = yaml.safe_load((folder / "zephyr/module.yml").read_text())
    assert set(module) == {"name", "build"}, module
    assert set(module["build"]) == {"cmake", "kconfig"}, module
    assert (folder / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    kconfig = folder / module["build"]["kconfig"]
    symbol = module["name"].upper()
    # A board that has all that is asked for, and one that has nothing.
    can_be = []
    for has in (True, False):
        with tempfile.TemporaryDirectory() as place:
            board = pathlib.Path(place) / "Kconfig"
            text = f'source "{kconfig.resolve()}"\n'
            if has:
                text += "".join(f"config {name}\n\tdef_bool y\n" for name in sys.argv[3:])
            board.write_text(text)
            option = kconfiglib.Kconfig(str(board)).syms[symbol]
            option.set_value(2)
            can_be.append(option.tri_value == 2)
    return {**module, "can_be": can_be}


kinds = {"arduino": platformio, "platformio": platformio, "esp-idf": esp_idf, "zephyr": zephyr}
print(json.dumps(kinds[sys.argv[1]](pathlib.Path(sys.argv[2]))))
