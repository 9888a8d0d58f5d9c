import { SpindriftError } from '../../../platform/errors.ts';

/** The address of a queue: a URL, or a name in an account. */
export type QueueAddress =
  | { readonly url: string; readonly region?: string }
  | { readonly name: string; readonly account?: string; readonly region?: string };

const NAME = /^[A-Za-z0-9_-]{1,80}$/;
const ARN = /^arn:aws[a-z-]*:sqs:([a-z0-9-]+):(\d{12}):([A-Za-z0-9_-]{1,80})$/;

/** Parses a queue's name, URL or ARN. */
export function parseQueueAddress(text: string): QueueAddress {
  if (NAME.test(text)) return { name: text };
  const [, region, account, name] = ARN.exec(text) ?? [];
  if (region !== undefined && account !== undefined && name !== undefined) return { name, account, region };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname.length > 1) {
    const inHost = /^sqs\.([a-z0-9-]+)\.|^([a-z0-9-]+)\.queue\./.exec(url.hostname);
    const found = inHost?.[1] ?? inHost?.[2];
    return { url: text, ...(found !== undefined && { region: found }) };
  }
  throw new SpindriftError('OPTION_INVALID', {
    option: 'the interruption queue',
    value: text === '' ? 'empty' : text,
    allowed: 'the name, the URL or the ARN of a standard SQS queue',
  });
}
