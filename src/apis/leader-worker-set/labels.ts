/** Names that LeaderWorkerSets (leaderworkerset.x-k8s.io) write on their pods. */

export const LEADER_WORKER_SET_DOMAIN = 'leaderworkerset.sigs.k8s.io';

/** On workers only: the name of the pod that leads their group. */
export const ANNOTATION_LEADER_NAME = `${LEADER_WORKER_SET_DOMAIN}/leader-name`;

/** On all pods of a group: how many pods it has, the leader included. */
export const ANNOTATION_GROUP_SIZE = `${LEADER_WORKER_SET_DOMAIN}/size`;

/** On all pods: the name of their LeaderWorkerSet. */
export const LABEL_SET_NAME = `${LEADER_WORKER_SET_DOMAIN}/name`;

/** On all pods: the number of the pod in its group; 0 is the leader. */
export const LABEL_WORKER_INDEX = `${LEADER_WORKER_SET_DOMAIN}/worker-index`;

/** On all pods: the number of the group in its set. */
export const LABEL_GROUP_INDEX = `${LEADER_WORKER_SET_DOMAIN}/group-index`;
