import { SpindriftError } from '../../platform/errors.ts';
import { NOTICE_KINDS, type NoticeKind } from '../notice.ts';
import type { NamedConditions } from './notices-of-node.ts';

const MEANT: readonly NoticeKind[] = NOTICE_KINDS.filter((kind) => !kind.startsWith('reservation-'));

/** Reads `Type` or `Type=kind`, as people name conditions that mean danger. */
export function parseNamedConditions(texts: readonly string[]): NamedConditions {
  const named = new Map<string, NoticeKind>();
  for (const text of texts.flatMap((each) => each.split(',')).map((each) => each.trim())) {
    if (text === '') continue;
    const [type = '', word = 'spot-interruption'] = text.split('=');
    const kind = MEANT.find((each) => each === word);
    if (!/^[A-Za-z][\w.-]{0,100}$/.test(type) || kind === undefined || type === 'Ready') {
      throw new SpindriftError('OPTION_INVALID', {
        option: '--interruption-conditions',
        value: text,
        allowed: `the type of a Node condition, alone or with what it means, one of ${MEANT.join(', ')}: GCESpotPreempting=spot-interruption`,
      });
    }
    named.set(type, kind);
  }
  return named;
}
