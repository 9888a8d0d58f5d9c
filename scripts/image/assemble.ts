/**
 * Assembles the root file system of the image without a container engine: `npm run image -- --arch arm64 --output DIR`.
 * DIR then has one folder per layer (`system`, `modules`, `app`), and with `--oci` an image in the folder `oci` beside
 * them. The Dockerfile runs this same script, so that both have the same files.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { appLayer } from './app-layer.ts';
import { checkLicences, installedPackages, licenceText } from './licences.ts';
import { modulesLayer, prune } from './modules-layer.ts';
import { writeOciImage } from './oci-image.ts';
import { ARCHITECTURES, type Architecture, readPins } from './pins.ts';
import { billOfMaterials } from './sbom.ts';
import { settle } from './settle.ts';
import { systemLayer } from './system-layer.ts';

/** From the lowest, which changes least, to the highest. */
export const LAYERS = ['system', 'modules', 'app'] as const;

const SOURCE = dirname(dirname(import.meta.dirname));

/** Makes the layers below `output`, which is emptied first, from the code in `source`. */
export async function assemble(output: string, architecture: Architecture, source = SOURCE): Promise<void> {
  const pins = readPins();
  rmSync(output, { recursive: true, force: true });
  const [system, modules, app] = LAYERS.map((layer) => join(output, layer)) as [string, string, string];
  await systemLayer(system, pins, architecture);
  const installed = modulesLayer(modules, source);
  const packages = installedPackages(join(installed, 'node_modules'));
  checkLicences(packages);
  const documents = join(modules, 'usr/share/doc/spindrift');
  mkdirSync(documents, { recursive: true });
  writeFileSync(join(documents, 'THIRD-PARTY-LICENCES'), licenceText(packages));
  writeFileSync(join(documents, 'sbom.cdx.json'), billOfMaterials(installed, pins, architecture));
  prune(installed);
  appLayer(app, source);
  for (const layer of [system, modules, app]) settle(layer);
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
      output: { type: 'string', default: 'dist/image' },
      oci: { type: 'boolean', default: false },
    },
  });
  const architecture = ARCHITECTURES.find((each) => each === values.arch);
  if (architecture === undefined)
    throw new Error(`--arch is ${values.arch}, but it must be ${ARCHITECTURES.join(' or ')}`);
  const output = resolve(values.output);
  await assemble(output, architecture);
  for (const layer of LAYERS) {
    const size = execFileSync('du', ['--summarize', '--apparent-size', '--block-size=1M', join(output, layer)], {
      encoding: 'utf8',
    });
    console.log(`${layer.padEnd(8)} ${size.split('\t')[0]?.padStart(4)} MB`);
  }
  if (values.oci) {
    const { digest, bytes } = writeOciImage(
      join(output, 'oci'),
      LAYERS.map((layer) => join(output, layer)),
      architecture,
    );
    console.log(`image    ${(bytes / 1e6).toFixed(0).padStart(4)} MB compressed, ${digest}`);
  }
}
