/** Parses the platform log that a spot machine was selected for preemption, in whatever form it is delivered. Pure. */

/** `Spot instance … is selected for preemption`. */
export const PREEMPTION_MESSAGE = 'instance.00002';
/** Time from the log until the machine is forced off, on a best-effort basis. */
export const PREEMPTION_GRACE_MS = 30_000;

const INSTANCE_ID = /\b[0-9a-z]{4}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const MOST_DEPTH = 12;

/** The IDs of machines selected for preemption; empty if the notification is about something else. */
export function preemptedIds(body: unknown): readonly string[] {
  const texts: string[] = [];
  collect(body, texts, 0);
  if (!texts.some((text) => text.includes(PREEMPTION_MESSAGE))) return [];
  return [...new Set(texts.flatMap((text) => text.match(INSTANCE_ID) ?? []))];
}

/** Alerts carry the log line as an object, as text, or as JSON within text: all strings in it are collected. */
function collect(value: unknown, texts: string[], depth: number): void {
  if (depth > MOST_DEPTH) return;
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) collect(one, texts, depth + 1);
}
