#!/usr/bin/env python3
"""Packs what a person with Windows downloads: windows_zip.py BUILD_FOLDER OUTPUT_FOLDER

One folder in one archive; equal files give an equal archive (times are $SOURCE_DATE_EPOCH's, or 1980).
    lockstep.exe   what a double click starts; opens the window
    lockstep.com   the program, which a terminal finds first
    assets/        lessons, presets, fonts, Fashion-MNIST, licences of everything inside
    README.md, docs/windows.md, CHANGELOG.md, LICENSE
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

source = pathlib.Path(__file__).resolve().parent.parent
build, output = map(pathlib.Path, sys.argv[1:3])
version = re.search(r"project\(lockstep VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text())[1]
name = f"lockstep-{version}-windows-x86_64"
folder = build / "zip" / name
shutil.rmtree(build / "zip", ignore_errors=True)
assets = folder / "assets"
shutil.copytree(source / "assets", assets, ignore=shutil.ignore_patterns("pictures"))

for built, packed in [("lockstep_start.exe", "lockstep.exe"), ("lockstep.exe", "lockstep.com")]:
    subprocess.run(["x86_64-w64-mingw32-strip", "-o", folder / packed, build / "demos" / built], check=True)
for text in ["README.md", "CHANGELOG.md", "LICENSE", "docs/windows.md"]:
    (folder / text).parent.mkdir(exist_ok=True)
    shutil.copy(source / text, folder / text)
shutil.copytree(source / "assets/pictures", assets / "pictures", ignore=shutil.ignore_patterns("*.sh"))

fonts = ["opentype/inter/Inter-Regular.otf", "opentype/inter/Inter-SemiBold.otf", "truetype/dejavu/DejaVuSans.ttf",
         "truetype/dejavu/DejaVuSansMono.ttf"]
(assets / "fonts").mkdir(exist_ok=True)
for font in fonts:
    shutil.copy(pathlib.Path("/usr/share/fonts") / font, assets / "fonts")
data = assets / "data/fashion-mnist"
data.mkdir(parents=True, exist_ok=True)
for file in sorted(pathlib.Path("/usr/share/datasets/fashion-mnist").glob("*-ubyte.gz")):
    shutil.copy(file, data)

# The licences. Libraries are built from the sources of Debian's packages, so their packages' notices are theirs.
packages = ["libimgui-dev", "libglfw3-dev", "libvulkan-dev", "libshaderc-dev", "glslang-dev", "spirv-tools", "spirv-headers",
            "libglm-dev", "libstb-dev", "libwebp-dev", "zlib1g-dev", "libcli11-dev", "libfmt-dev", "nlohmann-json3-dev",
            "libyaml-cpp-dev", "libmd4c-dev", "fonts-inter", "fonts-dejavu-core", "dataset-fashion-mnist",
            "gcc-mingw-w64-base", "mingw-w64-common"]
rows = json.loads((source / "assets/licences/libraries.json").read_text())
rows.append({"name": "GCC and MinGW-w64 runtime", "use": "is needed by every C++ program",
             "licence": "GPL-3.0 WITH GCC-exception-3.1, ZPL-2.1", "packages": "gcc-mingw-w64-base|mingw-w64-common"})
listed, versions = [], []
for package in packages:
    row = next((row for row in rows if re.fullmatch(row["packages"], package)), None)
    if row is None:
        sys.exit(f"windows_zip.py: {package} is not in assets/licences/libraries.json")
    if row not in listed:
        listed.append(row)
    kept = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], check=True, capture_output=True, text=True).stdout
    versions.append(f"{package} {kept}\n")
    notice = pathlib.Path("/usr/share/doc") / package / "copyright"
    shutil.copy(notice, assets / "licences" / f"{package}.txt")
    for common in set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", notice.read_text(errors="replace"))):
        text = pathlib.Path("/usr/share/common-licenses") / common
        if text.exists():
            shutil.copy(text.resolve(), assets / "licences" / f"common-{common}.txt")
(assets / "licences/libraries.json").write_text(json.dumps(listed, indent=1) + "\n")  # what Help, About shows

(assets / "licences/LIBRARIES.txt").write_text("".join(versions))

date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH") or 0), 315532800))[:6]
archive = output / f"{name}.zip"
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        entry = zipfile.ZipInfo(str(file.relative_to(folder.parent)), date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        packed.writestr(entry, file.read_bytes())
print(f"{archive} ({archive.stat().st_size / 1e6:.0f} MB)")
