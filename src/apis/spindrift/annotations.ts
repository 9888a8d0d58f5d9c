/** Annotations that keep decisions of Spindrift across restarts, and annotations that users set. */
import { SPINDRIFT_GROUP } from './group.ts';

/** On a claim with an interruption notice: the kind of the notice. */
export const ANNOTATION_INTERRUPTION = `${SPINDRIFT_GROUP}/interruption`;
/** When the cloud sent the notice, RFC 3339. */
export const ANNOTATION_INTERRUPTION_TIME = `${SPINDRIFT_GROUP}/interruption-time`;
/** When Spindrift first received the notice, RFC 3339; later than the notice after a downtime. */
export const ANNOTATION_INTERRUPTION_HEARD = `${SPINDRIFT_GROUP}/interruption-heard`;
/** When the cloud ends the machine, RFC 3339; absent where the cloud does not say. It only moves earlier. */
export const ANNOTATION_INTERRUPTION_DEADLINE = `${SPINDRIFT_GROUP}/interruption-deadline`;
/** On a claim whose node must be cordoned, also before it joins: the kind of the notice. */
export const ANNOTATION_CORDONED = `${SPINDRIFT_GROUP}/cordoned`;
/** Set by a user on a node of the simulated cloud: interrupts its machine with this much notice. */
export const ANNOTATION_INTERRUPT = `${SPINDRIFT_GROUP}/interrupt`;
/** On a claim that is being disrupted: the identity of the disruption command. */
export const ANNOTATION_DISRUPTION = `${SPINDRIFT_GROUP}/disruption`;
/** On a node that is cordoned until its planned pods are bound; a cordoned node without it was cordoned by someone else. */
export const ANNOTATION_OPENING = `${SPINDRIFT_GROUP}/opening`;
/** On a replacement claim: the identity of the disruption command. */
export const ANNOTATION_REPLACES = `${SPINDRIFT_GROUP}/replaces`;
/** `true` on a claim that is on-demand because no spot capacity was available. */
export const ANNOTATION_SPOT_FALLBACK = `${SPINDRIFT_GROUP}/spot-fallback`;

/** On pods that serve a model: the ranking of flavors and capacity types; see SpotPolicy's flavorOrder. */
export const ANNOTATION_FLAVOR_ORDER = `${SPINDRIFT_GROUP}/flavor-order`;

/** On a Deployment, LeaderWorkerSet or Playground: the number of replicas to keep ready on spot, with on-demand as a substitute; see docs/models.md. */
export const ANNOTATION_READY_REPLICAS = `${SPINDRIFT_GROUP}/ready-replicas`;
/** Beside it: how many more replicas than that run on spot. Default 1. */
export const ANNOTATION_EXTRA_SPOT_REPLICAS = `${SPINDRIFT_GROUP}/extra-spot-replicas`;
/** Beside it: how many of the replicas are always on demand. Default 0. */
export const ANNOTATION_ON_DEMAND_REPLICAS = `${SPINDRIFT_GROUP}/on-demand-replicas`;
/** `true` on pods that serve a model and use the limits of its flavor, whatever their own requests are. */
export const ANNOTATION_FLAVOR_LIMITS = `${SPINDRIFT_GROUP}/flavor-limits`;

/** On an OpenModel: for how many pods of it room is kept, as a number or as a share of those that run, such as `25%`. */
export const ANNOTATION_WARM_SPARES = `${SPINDRIFT_GROUP}/warm-spares`;

/** On a CapacityBuffer: where its room is and what that costs (`headroom-note.ts`), for `spindrift top` and `spindrift why`. */
export const ANNOTATION_HEADROOM = `${SPINDRIFT_GROUP}/headroom`;
