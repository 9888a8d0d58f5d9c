/** Explains a node as text. */
import type { RankedOffering } from '../../engine/solution.ts';
import { dollars, percent } from '../money.ts';
import { textTable } from '../text-table.ts';
import { type NodeDue, nodeDueText } from './node-due.ts';
import { type NodeHeadroom, nodeHeadroomText } from './node-headroom.ts';
import type { NodeStay } from './node-stay.ts';
import type { NodeWhy } from './node-why.ts';
import { offeringPriceText, offeringText } from './offering-text.ts';

const SHOWN = 8;

/** The predictions for a node. */
export interface NodeOutlook {
  readonly stay?: NodeStay;
  readonly due?: NodeDue;
  /** Room on it that CapacityBuffers reserve. */
  readonly headroom?: readonly NodeHeadroom[];
}

/** The answer as text, with the predictions and the notes on them. */
export function nodeWhyText(
  why: NodeWhy,
  { stay, due, headroom = [] }: NodeOutlook = {},
  notes: readonly string[] = [],
): string {
  const parts = [
    firstWords(why),
    purpose(why),
    ...choice(why),
    headroom.map(nodeHeadroomText).join('\n'),
    ...(due === undefined ? [] : [nodeDueText(due)]),
    ...(stay === undefined ? [] : [stayText(stay)]),
    notes.map((note) => `Note: ${note}.`).join('\n'),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function stayText({ outcome, begins, because, saves, cause, budget }: NodeStay): string {
  if (outcome === 'goes')
    return `Consolidation would remove it${begins === 'now' ? '' : ' after other moves'}: ${because}.`;
  const goesAnyway = cause?.kind === 'hold' && cause.hold === 'leaving';
  const most = saves === 0 || goesAnyway ? '' : ` Removing it would save at most ${dollars(saves)} an hour.`;
  return `It is not consolidated: ${because}.${most}${budget === undefined ? '' : ` ${budget}.`}`;
}

function firstWords({ node, offering, launched, onDemandPrice }: NodeWhy): string {
  const { price, capacityType } = offering;
  const verb = launched ? 'runs on' : 'is planned as';
  const cost = price === undefined ? '' : `, ${offeringPriceText({ capacityType, price })}`;
  const saved =
    capacityType === 'spot' && price !== undefined && onDemandPrice !== undefined
      ? `, ${percent(1 - price / onDemandPrice)} below the ${dollars(onDemandPrice)} of on-demand`
      : '';
  return `Node ${node} ${verb} ${offeringText(offering)}${cost}${saved}.`;
}

function purpose({ pool, requests }: NodeWhy): string {
  const { pods, ...resources } = requests;
  const asked = Object.entries(resources).map(([name, amount]) => `${amount} ${name}`);
  const from = pool === undefined ? 'It was launched' : `It was launched from pool ${pool}`;
  return asked.length === 0 ? `${from}.` : `${from} for ${whoAsk(pods)} for ${asked.join(', ')}.`;
}

function whoAsk(pods: string | number | undefined): string {
  if (pods === undefined) return 'pods that ask';
  return Number(pods) === 1 ? '1 pod that asks' : `${pods} pods that together ask`;
}

function choice({ fellBackFrom, beat, unplanned }: NodeWhy): string[] {
  const others = beat.length === 0 ? [] : [section('It was better than', beat)];
  if (unplanned) {
    return beat.length === 0
      ? ['Its NodeClaim carries no plan, so that its alternatives are not known.']
      : [section('Its offering is not in its plan, which had these', beat)];
  }
  if (fellBackFrom.length > 0)
    return [section('It fell back from these offerings, which had no capacity at launch', fellBackFrom), ...others];
  return [`It was the best of ${beat.length + 1} offerings that fit.`, ...others];
}

function section(title: string, offerings: readonly RankedOffering[]): string {
  const rows = offerings
    .slice(0, SHOWN)
    .map((offering) => [
      offering.capacityType === 'reserved' ? 'paid for' : dollars(offering.price),
      offering.instanceType,
      offering.capacityType,
      offering.zone,
    ]);
  const table = textTable(['$/HOUR', 'TYPE', 'CAPACITY', 'ZONE'], rows, [0]).replaceAll(/^/gm, '  ');
  const rest = offerings.slice(SHOWN);
  const dearest = Math.max(...rest.map(({ price }) => price));
  const more = rest.length === 0 ? '' : `\n  and ${rest.length} more, up to ${dollars(dearest)}`;
  return `${title}:\n${table}${more}`;
}
