/**
 * Admission policies that keep control planes off spot capacity: for infrastructure machines that carry the control-plane label, and
 * for templates that a control plane of any kind refers to. `npm run gen` writes them as manifests.
 */
import { CONTROL_PLANE_GROUP, INFRASTRUCTURE_GROUP, LABEL_CONTROL_PLANE } from '../../apis/cluster-api/names.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';

const API_VERSION = 'admissionregistration.k8s.io/v1';

/** For each kind of machine, when the spec at a path is spot, in CEL. */
const IS_SPOT: Readonly<Record<string, (spec: string) => string>> = {
  AWSMachine: (spec) => `has(${spec}.spotMarketOptions) || (has(${spec}.marketType) && ${spec}.marketType == 'Spot')`,
  GCPMachine: (spec) =>
    `(has(${spec}.preemptible) && ${spec}.preemptible) || (has(${spec}.provisioningModel) && ${spec}.provisioningModel == 'Spot')`,
  AzureMachine: (spec) => `has(${spec}.spotVMOptions)`,
};

const VERSIONS: Readonly<Record<string, string>> = {
  AWSMachine: 'v1beta2',
  GCPMachine: 'v1beta1',
  AzureMachine: 'v1beta1',
};
/**
 * The reference to the template, wherever the kind has it: in v1beta2 and v1beta1 of KubeadmControlPlane, RKE2ControlPlane and
 * K0sControlPlane, in TalosControlPlane and KThreesControlPlane, and in the first RKE2ControlPlane. Managed control planes have none.
 */
const TEMPLATE_REFERENCE = [
  'object.?spec.?machineTemplate.?spec.?infrastructureRef',
  '.or(object.?spec.?machineTemplate.?infrastructureRef)',
  '.or(object.?spec.?infrastructureTemplate)',
  '.or(object.?spec.?infrastructureRef)',
  ".orValue({'kind': '', 'name': ''})",
].join('');
const ADVICE = 'a control plane on spot capacity may lose the quorum of etcd: remove the spot fields';

/** All policies with their bindings, by the provider they are for. */
export function controlPlanePolicies(kind: keyof typeof IS_SPOT & string): readonly KubeObject[] {
  const provider = kind.replace('Machine', '').toLowerCase();
  return [
    ...policy(`spindrift-${provider}-control-plane-not-on-spot`, {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: [rule(INFRASTRUCTURE_GROUP, `${kind.toLowerCase()}s`)] },
      matchConditions: [
        {
          name: 'control-plane',
          expression: `has(object.metadata.labels) && '${LABEL_CONTROL_PLANE}' in object.metadata.labels`,
        },
      ],
      validations: [{ expression: `!(${IS_SPOT[kind]?.('object.spec')})`, message: `${kind}: ${ADVICE}` }],
    }),
    ...policy(
      `spindrift-${provider}-control-plane-template-not-spot`,
      {
        failurePolicy: 'Fail',
        paramKind: { apiVersion: `${INFRASTRUCTURE_GROUP}/${VERSIONS[kind]}`, kind: `${kind}Template` },
        matchConstraints: { resourceRules: [rule(CONTROL_PLANE_GROUP, '*')] },
        variables: [{ name: 'template', expression: TEMPLATE_REFERENCE }],
        validations: [
          {
            expression: `variables.template.kind != '${kind}Template' || variables.template.name != params.metadata.name || !(${IS_SPOT[kind]?.('params.spec.template.spec')})`,
            message: `the ${kind}Template of the control plane is spot; ${ADVICE}`,
          },
        ],
      },
      { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } },
    ),
  ];
}

/** Kinds that there are policies for. */
export const POLICY_KINDS = Object.keys(IS_SPOT);

function policy(name: string, spec: object, binding: object = {}): readonly KubeObject[] {
  const shared = { policyName: name, validationActions: ['Deny'], ...binding };
  return [
    { apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicy', metadata: { name }, ...{ spec } },
    { apiVersion: API_VERSION, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, ...{ spec: shared } },
  ];
}

function rule(group: string, plural: string): object {
  return { apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [plural] };
}
