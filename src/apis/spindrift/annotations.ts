/** What Spindrift writes on claims and nodes so that a decision survives the process that made it. */
import { SPINDRIFT_GROUP } from './group.ts';

/** On a claim whose machine is about to be taken away: the kind of the notice. */
export const ANNOTATION_INTERRUPTION = `${SPINDRIFT_GROUP}/interruption`;
/** When the cloud said so of that kind, RFC 3339. */
export const ANNOTATION_INTERRUPTION_TIME = `${SPINDRIFT_GROUP}/interruption-time`;
/** When we first heard of it, RFC 3339: what the cloud says while nobody listens is heard later than it is said. */
export const ANNOTATION_INTERRUPTION_HEARD = `${SPINDRIFT_GROUP}/interruption-heard`;
/** When that machine goes, RFC 3339; absent where the cloud does not say. It only ever moves closer. */
export const ANNOTATION_INTERRUPTION_DEADLINE = `${SPINDRIFT_GROUP}/interruption-deadline`;
/** On a claim whose node is to be closed to new pods, also where it has yet to join: the kind of the notice that says why. */
export const ANNOTATION_CORDONED = `${SPINDRIFT_GROUP}/cordoned`;
/** Put on a node by a person, where its cloud is one for trying things out: its machine is taken back after this duration. */
export const ANNOTATION_INTERRUPT = `${SPINDRIFT_GROUP}/interrupt`;
/** On a claim that makes way: the identity of the disruption command. */
export const ANNOTATION_DISRUPTION = `${SPINDRIFT_GROUP}/disruption`;
/** On a node that is closed until the scheduler knows which pods it was made for; without it, a closed node was closed by a person. */
export const ANNOTATION_OPENING = `${SPINDRIFT_GROUP}/opening`;
/** On a claim launched in place of others: the identity of the disruption command. */
export const ANNOTATION_REPLACES = `${SPINDRIFT_GROUP}/replaces`;
/** `true` on a claim that is to be on-demand because the spot capacity it would have been was out of the market. */
export const ANNOTATION_SPOT_FALLBACK = `${SPINDRIFT_GROUP}/spot-fallback`;

/** On pods that serve a model: how its flavors and capacity types are ranked; see SpotPolicy's flavorOrder. */
export const ANNOTATION_FLAVOR_ORDER = `${SPINDRIFT_GROUP}/flavor-order`;

/** On a Deployment, LeaderWorkerSet or Playground: how many replicas are kept ready on spot, with on-demand filled in; see docs/models.md. */
export const ANNOTATION_READY_REPLICAS = `${SPINDRIFT_GROUP}/ready-replicas`;
/** Beside it: how many more replicas than that run on spot. Default 1. */
export const ANNOTATION_EXTRA_SPOT_REPLICAS = `${SPINDRIFT_GROUP}/extra-spot-replicas`;
/** Beside it: how many of the replicas are always on demand. Default 0. */
export const ANNOTATION_ON_DEMAND_REPLICAS = `${SPINDRIFT_GROUP}/on-demand-replicas`;
/** `true` on pods that serve a model and take of their node what the limits of its flavor say, whatever their own requests are. */
export const ANNOTATION_FLAVOR_LIMITS = `${SPINDRIFT_GROUP}/flavor-limits`;

/** On an OpenModel: for how many pods of it room is kept, as a number or as a share of those that run, such as `25%`. */
export const ANNOTATION_WARM_SPARES = `${SPINDRIFT_GROUP}/warm-spares`;

/** On a CapacityBuffer: where its room is and what that costs (`headroom-note.ts`), for `spindrift top` and `spindrift why`. */
export const ANNOTATION_HEADROOM = `${SPINDRIFT_GROUP}/headroom`;
