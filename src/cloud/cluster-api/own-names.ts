/** Labels, annotations and the finalizer that Spindrift writes on objects of Cluster API. `docs/cluster-api.md` says how to remove them. */
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';

/** On a machine: the UID of the claim it belongs to. */
export const LABEL_CLAIM_UID = `${SPINDRIFT_GROUP}/nodeclaim-uid`;
/** On a machine: the name of that claim, its pool and its node class. */
export const ANNOTATION_CLAIM = `${SPINDRIFT_GROUP}/nodeclaim`;
export const ANNOTATION_POOL = `${SPINDRIFT_GROUP}/nodepool`;
export const ANNOTATION_NODE_CLASS = `${SPINDRIFT_GROUP}/nodeclass`;
/** On a MachineDeployment: the claims that wait for a machine of it. */
export const ANNOTATION_LEDGER = `${SPINDRIFT_GROUP}/waiting-claims`;
/** On a MachineDeployment: USD per hour of one machine, where we cannot know it. */
export const ANNOTATION_PRICE = `${SPINDRIFT_GROUP}/price`;
/** On a claim: `namespace/name` of the MachineDeployment that it waits for. */
export const ANNOTATION_DEPLOYMENT = `${SPINDRIFT_GROUP}/machine-deployment`;
/** On a claim: MachineDeployments that had no stock for it, separated by commas. */
export const ANNOTATION_REFUSED = `${SPINDRIFT_GROUP}/machine-deployments-refused`;
/** On a Node: we have given it the label for interruptible capacity, and take it away again. */
export const ANNOTATION_LABELLED = `${SPINDRIFT_GROUP}/interruptible-label`;
/** On a machine: for how long its remediation is put off, and how often machines of its set have failed. */
export const ANNOTATION_REMEDIATION_HELD = `${SPINDRIFT_GROUP}/remediation-held`;
/** On an infrastructure machine that Spindrift reconciles: its instance is deleted before the object is. */
export const FINALIZER_INSTANCE = `${SPINDRIFT_GROUP}/instance`;
/** On the same: when its instance was first asked for. */
export const ANNOTATION_LAUNCHED_AT = `${SPINDRIFT_GROUP}/launched-at`;
