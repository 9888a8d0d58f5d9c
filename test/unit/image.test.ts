/** What can be said of the image without making it: its pins, its Dockerfile, its licences and its bill of materials. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND, ENTRYPOINT, ENVIRONMENT, LABELS, USER, WORKING_DIRECTORY } from '../../scripts/image/image-config.ts';
import { checkLicences, licenceText } from '../../scripts/image/licences.ts';
import { ARCHITECTURES, readPins } from '../../scripts/image/pins.ts';
import { withoutChance } from '../../scripts/image/sbom.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('the pins of the image', () => {
  const pins = readPins();

  it('name the Node that the tests run on', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    expect(pins.node.version).toBe(lock.packages['node_modules/node']?.version);
  });

  it('have a hash for every architecture', () => {
    for (const architecture of ARCHITECTURES) {
      expect(pins.node.integrity[architecture]).toMatch(/^sha512-/);
      for (const { sha256 } of pins.debian) expect(sha256[architecture]).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('starts containers as the image that is assembled without an engine does', () => {
    expect(dockerfile).toContain(`ENTRYPOINT ${JSON.stringify(ENTRYPOINT).replaceAll(',', ', ')}`);
    expect(dockerfile).toContain(`CMD ${JSON.stringify(COMMAND)}`);
    expect(dockerfile).toContain(`USER ${USER}`);
    expect(dockerfile).toContain(`WORKDIR ${WORKING_DIRECTORY}`);
    for (const [name, value] of Object.entries(ENVIRONMENT)) expect(dockerfile).toContain(`${name}="${value}"`);
    for (const [name, value] of Object.entries(LABELS)) expect(dockerfile).toContain(`${name}="${value}"`);
  });

  it('gives Node the flags that the program asks for in its first line', () => {
    const [firstLine = ''] = read('bin/spindrift.js').split('\n');
    const flags = firstLine.split(' ').filter((word) => word.startsWith('--'));
    expect(ENTRYPOINT.filter((word) => word.startsWith('--'))).toEqual(flags);
  });
});

describe('licences', () => {
  const aPackage = (licence: string) => ({ name: 'a', version: '1.0.0', licence, text: 'the text' });

  it.each(['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC'])('%s is allowed', (licence) => {
    expect(() => checkLicences([aPackage(licence)])).not.toThrow();
  });

  it.each(['', 'GPL-3.0', 'MIT AND GPL-3.0', 'SEE LICENSE IN x'])(
    '%s is refused with the name of the package',
    (licence) => {
      expect(() => checkLicences([aPackage(licence)])).toThrow(/a 1\.0\.0/);
    },
  );

  it('are passed on with their text', () => {
    expect(licenceText([aPackage('MIT')])).toBe('a 1.0.0\nLicence: MIT\n\nthe text\n');
  });
});

describe('the bill of materials', () => {
  it('is the same for two builds, and names no place of download', () => {
    const bom = (serialNumber: string, timestamp: string, url: string) => ({
      serialNumber,
      bomFormat: 'CycloneDX',
      metadata: { timestamp, tools: [{ name: 'npm' }], component: { name: 'spindrift', version: '1' } },
      components: [
        { name: 'b', version: '1', externalReferences: [{ type: 'distribution', url }, { type: 'website' }] },
      ],
      dependencies: [],
    });
    const more = [{ name: 'a', version: '2' }];
    const first = withoutChance(bom('urn:1', 'today', 'https://one'), more);
    expect(first).toBe(withoutChance(bom('urn:2', 'tomorrow', 'https://two'), more));
    expect(first).not.toContain('https://one');
    expect((JSON.parse(first) as { components: { name: string }[] }).components.map(({ name }) => name)).toEqual([
      'a',
      'b',
    ]);
  });
});
