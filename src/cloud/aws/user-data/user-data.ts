/** Renders the user data of an instance in the format of its image family. */
import type { AmiFamily } from '../../../apis/aws/ec2-node-class-schema.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import { al2 } from './al2.ts';
import { al2023 } from './al2023.ts';
import { bottlerocket } from './bottlerocket.ts';
import type { JoinSettings } from './join-settings.ts';
import { windows } from './windows.ts';

/** EC2's limit before encoding. */
const MOST_BYTES = 16_384;

const WRITERS: Readonly<Record<AmiFamily, (settings: JoinSettings) => string>> = {
  AL2: al2,
  AL2023: al2023,
  Bottlerocket: bottlerocket,
  // Custom images join by themselves: they get the user's data unchanged.
  Custom: ({ custom = '' }) => custom,
  Windows2019: windows,
  Windows2022: windows,
  Windows2025: windows,
};

/** The user data, not encoded; CLOUD_USER_DATA_INVALID if the user's part cannot be parsed, or the whole is too long. */
export function userData(family: AmiFamily, settings: JoinSettings): string {
  const text = WRITERS[family](settings);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MOST_BYTES) return text;
  throw new SpindriftError('CLOUD_USER_DATA_INVALID', {
    problem: `it is ${bytes} bytes long together with what makes the node join, but EC2 takes ${MOST_BYTES}: shorten spec.userData by ${bytes - MOST_BYTES}`,
  });
}
