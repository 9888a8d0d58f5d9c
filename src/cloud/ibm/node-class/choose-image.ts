/** Chooses the image to boot: by ID, by name, or the newest that matches a selector. Pure. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import type { VpcImage } from '../api/vpc-types.ts';

type Selector = NonNullable<IBMNodeClassSpec['imageSelector']>;

/** An image, or why there is none. */
export type ChosenImage = { readonly image: VpcImage } | { readonly problem: string };

/** `ibm-ubuntu-24-04-3-minimal-amd64-2`: patch and variant may be missing. */
const NAME =
  /^ibm-(?<os>[a-z]+)-(?<major>\d+)-(?<minor>\d+)(?:-(?<patch>\d+))?(?:-(?<variant>[a-z][a-z-]*))?-(?<arch>amd64|arm64|s390x)-(?<build>\d+)$/;
const PREFERRED_VARIANT = 'minimal';

/** The image of exactly that name, or the newest whose name contains it. */
export function imageByName(name: string, images: readonly VpcImage[]): ChosenImage {
  const named = images.filter((image) => image.name === name || image.id === name);
  const alike = named.length > 0 ? named : images.filter((image) => image.name.includes(name));
  if (alike.length === 0) return { problem: `spec.image ${name}: there is no image of that ID or name in the region` };
  return usable(alike, `spec.image ${name}`, (a, b) => compare(a.created_at, b.created_at));
}

/** The newest image that matches the selector. */
export function imageBySelector(selector: Selector, images: readonly VpcImage[]): ChosenImage {
  const { os, majorVersion, minorVersion, architecture, variant } = selector;
  const fitting = images.filter(({ name }) => {
    const parts = NAME.exec(name)?.groups;
    return (
      parts !== undefined &&
      parts.os === os &&
      Number(parts.major) === Number(majorVersion) &&
      (minorVersion === undefined || Number(parts.minor) === Number(minorVersion)) &&
      parts.arch === architecture &&
      (variant === undefined || parts.variant === variant)
    );
  });
  const asked = `spec.imageSelector (${[os, majorVersion, minorVersion, variant, architecture].filter((part) => part !== undefined).join(' ')})`;
  if (fitting.length === 0) return { problem: `${asked}: no image of the region is that` };
  return usable(fitting, asked, (a, b) => {
    const [one, other] = [partsOf(a), partsOf(b)];
    for (const part of ['minor', 'patch', 'preferred', 'build'] as const) {
      if (one[part] !== other[part]) return one[part] - other[part];
    }
    return compare(a.created_at, b.created_at);
  });
}

function partsOf({ name }: VpcImage) {
  const { minor = '0', patch = '0', variant, build = '0' } = NAME.exec(name)?.groups ?? {};
  return {
    minor: Number(minor),
    patch: Number(patch),
    preferred: Number(variant === PREFERRED_VARIANT),
    build: Number(build),
  };
}

function usable(images: readonly VpcImage[], asked: string, order: (a: VpcImage, b: VpcImage) => number): ChosenImage {
  const alive = images.filter(({ status }) => status === 'available' || status === 'deprecated');
  if (alive.length === 0)
    return { problem: `${asked}: ${images[0]?.name} is ${images[0]?.status}, so that nothing can boot it` };
  const booting = alive.filter(({ user_data_format: format = 'cloud_init' }) => format === 'cloud_init');
  const [newest] = booting.sort((a, b) => order(b, a));
  if (newest === undefined)
    return { problem: `${asked}: ${alive[0]?.name} does not read cloud-init user data, which makes machines join` };
  return { image: newest };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
