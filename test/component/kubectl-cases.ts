/**
 * What people do with kubectl, and what comes of it. One list for every cluster: the embedded one and a real control
 * plane must give the same outcomes.
 */

/** One call of kubectl. */
export interface Step {
  readonly args: readonly string[];
  readonly input?: object | string;
  /** It ends with an exit code other than 0. */
  readonly fails?: true;
  /** Its output. */
  readonly prints?: RegExp;
  /** What it says on standard error. */
  readonly complains?: RegExp;
}

export interface KubectlCase {
  /** A sentence about the cluster. */
  readonly it: string;
  readonly steps: readonly Step[];
}

const TIMEOUT = '--timeout=30s';

function deployment(name: string, options: { replicas?: number; image?: string; node?: string } = {}): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: options.replicas ?? 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          ...(options.node && { nodeSelector: { 'kubernetes.io/hostname': options.node } }),
          tolerations: [{ key: 'suite', operator: 'Exists' }],
          containers: [
            { name: 'main', image: options.image ?? 'main:1', ports: [{ containerPort: 80 }] },
            { name: 'side', image: 'side:1', resources: { requests: { cpu: '100m', memory: '16Mi' } } },
          ],
        },
      },
    },
  };
}

function configMap(name: string, data: Record<string, string>, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more }, data };
}

const GADGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.suite.example.com' },
  spec: {
    group: 'suite.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', shortNames: ['gd'], categories: ['toys'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A gadget of the suite.',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, description: 'How large it is.' },
                  replicas: { type: 'integer', default: 1 },
                },
                'x-kubernetes-validations': [
                  { rule: 'self.size >= oldSelf.size', message: 'a gadget does not shrink' },
                ],
              },
              status: { type: 'object', properties: { replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

function gadget(name: string, spec: object): object {
  return { apiVersion: 'suite.example.com/v1', kind: 'Gadget', metadata: { name }, spec };
}

/** The cases in their order. They work in the current namespace and with a node that they may drain. */
export function kubectlCases(node: string): KubectlCase[] {
  const apply = (object: object, ...args: string[]): Step => ({ args: ['apply', '-f', '-', ...args], input: object });
  return [
    {
      it: 'tells its version',
      steps: [{ args: ['version'], prints: /Server Version: v1\.36\./ }],
    },
    {
      it: 'lists its resources and versions',
      steps: [
        { args: ['api-resources'], prints: /^pods\s+po\s+v1\s+true\s+Pod$/m },
        { args: ['api-resources', '--verbs=list', '--namespaced', '-o', 'name'], prints: /^deployments\.apps$/m },
        { args: ['api-versions'], prints: /^apps\/v1$/m },
      ],
    },
    {
      it: 'explains fields',
      steps: [
        {
          args: ['explain', 'pod.spec.containers'],
          prints: /FIELD: containers <\[\]Container>[\s\S]*image\s+<string>/,
        },
        { args: ['explain', 'deployment.spec.replicas'], prints: /FIELD: replicas <integer>/ },
        { args: ['explain', 'pod.spec.nothing'], fails: true, complains: /field "nothing" does not exist/ },
      ],
    },
    {
      it: 'creates with typed clients, which send protocol buffers',
      steps: [
        { args: ['create', 'namespace', 'suite-extra'], prints: /namespace\/suite-extra created/ },
        {
          args: ['create', 'namespace', 'suite-extra'],
          fails: true,
          complains: /namespaces "suite-extra" already exists/,
        },
        {
          args: ['create', 'deployment', 'typed', '--image=main:1', '--replicas=1'],
          prints: /deployment.apps\/typed created/,
        },
        { args: ['rollout', 'status', 'deployment/typed', TIMEOUT], prints: /successfully rolled out/ },
        { args: ['create', 'configmap', 'typed', '--from-literal=a=1'], prints: /configmap\/typed created/ },
        { args: ['create', 'secret', 'generic', 'typed', '--from-literal=a=1'], prints: /secret\/typed created/ },
        { args: ['get', 'secret', 'typed', '-o', 'jsonpath={.type} {.data.a}'], prints: /^Opaque MQ==$/ },
        { args: ['create', 'service', 'clusterip', 'typed', '--tcp=80:8080'], prints: /service\/typed created/ },
        { args: ['create', 'serviceaccount', 'typed'], prints: /serviceaccount\/typed created/ },
        {
          args: ['create', 'priorityclass', 'suite-typed', '--value=7'],
          prints: /priorityclass.scheduling.k8s.io\/suite-typed created/,
        },
        { args: ['delete', 'priorityclass', 'suite-typed'], prints: /deleted/ },
        { args: ['delete', 'deployment', 'typed'], prints: /deployment.apps "typed" deleted/ },
      ],
    },
    {
      it: 'applies twice, and the second time nothing changes',
      steps: [
        { ...apply(configMap('twice', { a: '1' })), prints: /configmap\/twice created/ },
        { ...apply(configMap('twice', { a: '1' })), prints: /configmap\/twice unchanged/ },
        { ...apply(configMap('twice', { a: '2' })), prints: /configmap\/twice configured/ },
        { args: ['get', 'cm', 'twice', '-o', 'jsonpath={.data}'], prints: /^\{"a":"2"\}$/ },
        { ...apply(configMap('twice', { b: '3' })), prints: /configured/ },
        { args: ['get', 'cm', 'twice', '-o', 'jsonpath={.data}'], prints: /^\{"b":"3"\}$/ },
        { args: ['get', 'cm', 'twice', '-o', 'yaml'], prints: /last-applied-configuration/ },
      ],
    },
    {
      it: 'shows what an apply would change',
      steps: [
        { args: ['diff', '-f', '-'], input: configMap('twice', { b: '3' }) },
        {
          args: ['diff', '-f', '-'],
          input: configMap('twice', { b: '4' }),
          fails: true,
          prints: /-\s+b: "3"\n\+\s+b: "4"/,
        },
        { ...apply(configMap('twice', { b: '4' }), '--dry-run=server'), prints: /configured \(server dry run\)/ },
        { args: ['get', 'cm', 'twice', '-o', 'jsonpath={.data.b}'], prints: /^3$/ },
      ],
    },
    {
      it: 'applies on the server, and two managers do not overwrite each other',
      steps: [
        { ...apply(deployment('shared'), '--server-side', '--field-manager=one'), prints: /serverside-applied/ },
        { ...apply(deployment('shared'), '--server-side', '--field-manager=two'), prints: /serverside-applied/ },
        {
          ...apply(deployment('shared', { image: 'main:2' }), '--server-side', '--field-manager=two'),
          fails: true,
          complains:
            /Apply failed with 1 conflict: conflict with "one": \.spec\.template\.spec\.containers\[name="main"\]\.image/,
        },
        {
          ...apply(
            deployment('shared', { image: 'main:2' }),
            '--server-side',
            '--field-manager=two',
            '--force-conflicts',
          ),
          prints: /serverside-applied/,
        },
        {
          args: ['get', 'deploy', 'shared', '-o', 'jsonpath={.spec.template.spec.containers[*].image}'],
          prints: /^main:2 side:1$/,
        },
        { args: ['delete', 'deploy', 'shared'], prints: /deleted/ },
      ],
    },
    {
      it: 'refuses fields and values that a kind does not have',
      steps: [
        {
          args: ['create', '-f', '-'],
          input: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'wrong' },
            spec: { containers: [{ name: 'a', imag: 'b' }] },
          },
          fails: true,
          complains: /strict decoding error: unknown field "spec\.containers\[0\]\.imag"/,
        },
        {
          args: ['create', '-f', '-', '--validate=false'],
          input: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'wrong' },
            spec: { containers: [{ name: 'a', imag: 'b' }] },
          },
          fails: true,
          complains: /The Pod "wrong" is invalid: spec\.containers\[0\]\.image: Required value/,
        },
        {
          args: ['create', '--raw', '/api/v1/namespaces/default/configmaps?fieldValidation=Strict', '-f', '-'],
          input:
            '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"doubled"},"data":{"a":"1"},"data":{"a":"2"}}',
          fails: true,
          complains: /strict decoding error: duplicate field "data"/,
        },
        {
          args: ['create', 'namespace', 'Not_A_Name'],
          fails: true,
          complains: /a lowercase RFC 1123 label must consist of/,
        },
        {
          args: ['create', '-f', '-', '--validate=false'],
          input: {
            ...deployment('wrong'),
            spec: { ...(deployment('wrong') as { spec: object }).spec, replicas: 'two' },
          },
          fails: true,
          complains: /json: cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32/,
        },
        {
          args: ['get', 'pods', 'absent'],
          fails: true,
          complains: /Error from server \(NotFound\): pods "absent" not found/,
        },
        { args: ['get', 'nothings'], fails: true, complains: /the server doesn't have a resource type "nothings"/ },
      ],
    },
    {
      it: 'shows objects in every form',
      steps: [
        { ...apply(deployment('shown')), prints: /created/ },
        { args: ['rollout', 'status', 'deploy/shown', TIMEOUT], prints: /successfully rolled out/ },
        {
          args: ['get', 'deploy', 'shown'],
          prints: /^NAME\s+READY\s+UP-TO-DATE\s+AVAILABLE\s+AGE\nshown\s+2\/2\s+2\s+2\s/,
        },
        {
          args: ['get', 'deploy', 'shown', '-o', 'wide'],
          prints: /CONTAINERS\s+IMAGES\s+SELECTOR\n.*main,side\s+main:1,side:1\s+app=shown/,
        },
        {
          args: ['get', 'pods', '-l', 'app=shown', '-o', 'wide'],
          prints:
            /NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\s+IP\s+NODE\s+NOMINATED NODE\s+READINESS GATES\nshown-\S+\s+2\/2\s+Running/,
        },
        { args: ['get', 'pods', '-l', 'app=shown', '-o', 'name'], prints: /^pod\/shown-\S+\npod\/shown-\S+\n$/ },
        { args: ['get', 'deploy', 'shown', '-o', 'yaml'], prints: /kind: Deployment[\s\S]*cpu: 100m/ },
        { args: ['get', 'deploy', 'shown', '-o', 'jsonpath={.spec.strategy.rollingUpdate.maxSurge}'], prints: /^25%$/ },
        {
          args: [
            'get',
            'pods',
            '-l',
            'app=shown',
            '--field-selector=status.phase=Running',
            '-o',
            'jsonpath={.items[*].spec.schedulerName}',
          ],
          prints: /^default-scheduler default-scheduler$/,
        },
        { args: ['get', 'pods', '--sort-by=.metadata.name', '-l', 'app=shown'], prints: /shown-/ },
        { args: ['get', 'all', '-l', 'app=shown'], prints: /replicaset\.apps\/shown-/ },
        { args: ['get', 'nodes'], prints: /NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION\n/ },
        {
          args: ['get', 'pods', '--chunk-size=1', '-l', 'app=shown', '-o', 'name'],
          prints: /^pod\/shown-\S+\npod\/shown-\S+\n$/,
        },
      ],
    },
    {
      it: 'watches',
      steps: [
        { args: ['get', 'cm', 'twice', '--watch', '--request-timeout=1s'], prints: /^NAME\s+DATA\s+AGE\ntwice\s+1\s/ },
        {
          args: ['get', 'cm', '--watch', '--output-watch-events', '--request-timeout=1s'],
          prints: /EVENT\s+NAME[\s\S]*ADDED\s+twice/,
        },
      ],
    },
    {
      it: 'labels, annotates and patches',
      steps: [
        { args: ['label', 'cm', 'twice', 'team=a'], prints: /configmap\/twice labeled/ },
        {
          args: ['label', 'cm', 'twice', 'team=b'],
          fails: true,
          complains: /already has a value \(a\), and --overwrite is false/,
        },
        { args: ['label', 'cm', 'twice', 'team-'], prints: /configmap\/twice unlabeled/ },
        { args: ['label', 'cm', 'twice', 'team=not a value'], fails: true, complains: /invalid label value/ },
        { args: ['annotate', 'cm', 'twice', 'note=some words'], prints: /configmap\/twice annotated/ },
        { args: ['patch', 'cm', 'twice', '-p', '{"data":{"c":"5"}}'], prints: /patched/ },
        { args: ['patch', 'cm', 'twice', '-p', '{"data":{"c":"5"}}'], prints: /patched \(no change\)/ },
        { args: ['patch', 'cm', 'twice', '--type=merge', '-p', '{"data":{"c":null}}'], prints: /patched/ },
        {
          args: ['patch', 'cm', 'twice', '--type=json', '-p', '[{"op":"add","path":"/data/d","value":"6"}]'],
          prints: /patched/,
        },
        {
          args: ['patch', 'cm', 'twice', '--type=json', '-p', '[{"op":"remove","path":"/data/absent"}]'],
          fails: true,
          complains: /the server rejected our request due to an error in our request/,
        },
        { args: ['get', 'cm', 'twice', '-o', 'jsonpath={.data}'], prints: /^\{"b":"3","d":"6"\}$/ },
        {
          args: [
            'patch',
            'deploy',
            'shown',
            '-p',
            '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}',
          ],
          prints: /patched/,
        },
        {
          args: ['get', 'deploy', 'shown', '-o', 'jsonpath={.spec.template.spec.containers[*].image}'],
          prints: /^main:1 side:2$/,
        },
        {
          args: ['patch', 'deploy', 'shown', '-p', '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'],
          fails: true,
          complains: /field is immutable/,
        },
      ],
    },
    {
      it: 'scales and rolls out',
      steps: [
        { args: ['scale', 'deploy/shown', '--replicas=4'], prints: /scaled/ },
        { args: ['rollout', 'status', 'deploy/shown', TIMEOUT], prints: /successfully rolled out/ },
        { args: ['get', 'deploy', 'shown', '-o', 'jsonpath={.status.readyReplicas}'], prints: /^4$/ },
        { args: ['set', 'image', 'deploy/shown', 'main=main:3'], prints: /image updated/ },
        { args: ['rollout', 'status', 'deploy/shown', TIMEOUT], prints: /successfully rolled out/ },
        { args: ['rollout', 'history', 'deploy/shown'], prints: /REVISION\s+CHANGE-CAUSE/ },
        { args: ['rollout', 'undo', 'deploy/shown'], prints: /rolled back/ },
        { args: ['rollout', 'status', 'deploy/shown', TIMEOUT], prints: /successfully rolled out/ },
        {
          args: ['get', 'deploy', 'shown', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'],
          prints: /^main:1$/,
        },
        { args: ['wait', '--for=condition=Available', 'deploy/shown', TIMEOUT], prints: /condition met/ },
        { args: ['wait', '--for=jsonpath={.status.replicas}=4', 'deploy/shown', TIMEOUT], prints: /condition met/ },
        {
          args: ['wait', '--for=condition=Nothing', 'deploy/shown', '--timeout=1s'],
          fails: true,
          complains: /timed out waiting for the condition/,
        },
      ],
    },
    {
      it: 'taints and cordons nodes',
      steps: [
        { args: ['taint', 'node', node, 'suite=yes:NoSchedule'], prints: /tainted/ },
        { args: ['describe', 'node', node], prints: /Taints:\s+suite=yes:NoSchedule/ },
        { args: ['taint', 'node', node, 'suite-'], prints: /untainted/ },
        { args: ['cordon', node], prints: /cordoned/ },
        { args: ['get', 'node', node], prints: /Ready,SchedulingDisabled/ },
        { args: ['uncordon', node], prints: /uncordoned/ },
      ],
    },
    {
      it: 'drains a node as far as disruption budgets allow',
      steps: [
        apply(deployment('guarded', { node })),
        { args: ['rollout', 'status', 'deploy/guarded', TIMEOUT], prints: /successfully rolled out/ },
        { args: ['create', 'pdb', 'guarded', '--selector=app=guarded', '--min-available=2'], prints: /created/ },
        {
          args: ['wait', '--for=jsonpath={.status.currentHealthy}=2', 'pdb/guarded', TIMEOUT],
          prints: /condition met/,
        },
        {
          args: ['get', 'pdb', 'guarded'],
          prints: /NAME\s+MIN AVAILABLE\s+MAX UNAVAILABLE\s+ALLOWED DISRUPTIONS\s+AGE\nguarded\s+2\s+N\/A\s+0/,
        },
        {
          args: ['drain', node, '--ignore-daemonsets', '--pod-selector=app=guarded', '--timeout=2s'],
          fails: true,
          complains: /Cannot evict pod as it would violate the pod's disruption budget/,
        },
        { args: ['patch', 'pdb', 'guarded', '-p', '{"spec":{"minAvailable":0}}'], prints: /patched/ },
        {
          args: ['wait', '--for=jsonpath={.status.disruptionsAllowed}=2', 'pdb/guarded', TIMEOUT],
          prints: /condition met/,
        },
        {
          args: ['drain', node, '--ignore-daemonsets', '--pod-selector=app=guarded', TIMEOUT],
          prints: /node\/\S+ drained/,
        },
        { args: ['uncordon', node], prints: /uncordoned/ },
        {
          args: ['delete', 'deploy,pdb', 'guarded'],
          prints: /deployment.apps "guarded" deleted[\s\S]*poddisruptionbudget.policy "guarded" deleted/,
        },
      ],
    },
    {
      it: 'deletes only when finalizers are gone',
      steps: [
        { ...apply(configMap('held', {}, { finalizers: ['example.com/hold'] })), prints: /created/ },
        { args: ['delete', 'cm', 'held', '--wait=false'], prints: /configmap "held" deleted/ },
        { args: ['get', 'cm', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp}'], prints: /^\d{4}-/ },
        {
          args: ['delete', 'cm', 'held', '--timeout=1s'],
          fails: true,
          complains: /timed out waiting for the condition/,
        },
        {
          args: ['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/other"]}}'],
          fails: true,
          complains: /no new finalizers can be added if the object is being deleted/,
        },
        { args: ['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'], prints: /patched/ },
        { args: ['get', 'cm', 'held'], fails: true, complains: /configmaps "held" not found/ },
      ],
    },
    {
      it: 'describes, and tells of events',
      steps: [
        { args: ['describe', 'node', node], prints: /Conditions:[\s\S]*Ready\s+True[\s\S]*Allocated resources:/ },
        {
          args: ['describe', 'deploy', 'shown'],
          prints: /Replicas:\s+4 desired \| 4 updated \| 4 total \| 4 available[\s\S]*ScalingReplicaSet/,
        },
        {
          args: ['describe', 'pods', '-l', 'app=shown'],
          prints: /Controlled By:\s+ReplicaSet\/shown-[\s\S]*QoS Class:\s+Burstable/,
        },
        { args: ['events', '--for=deployment/shown'], prints: /ScalingReplicaSet/ },
        {
          args: ['get', 'events', '--field-selector=involvedObject.kind=Deployment,involvedObject.name=shown'],
          prints: /LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE\n.*deployment\/shown/,
        },
      ],
    },
    {
      it: 'answers who may do what',
      steps: [
        { args: ['auth', 'can-i', 'create', 'pods'], prints: /^yes/ },
        { args: ['auth', 'whoami'], prints: /ATTRIBUTE\s+VALUE\nUsername\s/ },
      ],
    },
    {
      it: 'serves custom resources by their definition',
      steps: [
        {
          ...apply(GADGETS),
          prints: /customresourcedefinition.apiextensions.k8s.io\/gadgets.suite.example.com created/,
        },
        {
          args: ['wait', '--for=condition=Established', 'crd/gadgets.suite.example.com', TIMEOUT],
          prints: /condition met/,
        },
        { ...apply(gadget('one', { size: 3 })), prints: /gadget.suite.example.com\/one created/ },
        { ...apply(gadget('one', { size: 3 })), prints: /unchanged/ },
        { args: ['get', 'gd'], prints: /^NAME\s+SIZE\none\s+3\n$/ },
        { args: ['get', 'toys', '-o', 'jsonpath={.items[0].spec.replicas}'], prints: /^1$/ },
        { args: ['explain', 'gadget.spec.size'], prints: /How large it is/ },
        {
          ...apply(gadget('two', { size: 0 })),
          fails: true,
          complains: /spec\.size in body should be greater than or equal to 1/,
        },
        { ...apply(gadget('two', {})), fails: true, complains: /spec\.size: Required value/ },
        { ...apply(gadget('two', { size: 1, colour: 'red' })), fails: true, complains: /unknown field "spec\.colour"/ },
        { ...apply(gadget('one', { size: 2 })), fails: true, complains: /a gadget does not shrink/ },
        { args: ['scale', 'gadget/one', '--replicas=5'], prints: /scaled/ },
        { args: ['get', 'gadget', 'one', '-o', 'jsonpath={.metadata.generation} {.spec.replicas}'], prints: /^2 5$/ },
        {
          args: [
            'patch',
            'gadget',
            'one',
            '--type=merge',
            '--subresource=status',
            '-p',
            '{"status":{"replicas":5},"spec":{"size":9}}',
          ],
          prints: /patched/,
        },
        { args: ['get', 'gadget', 'one', '-o', 'jsonpath={.status.replicas} {.spec.size}'], prints: /^5 3$/ },
        { args: ['delete', 'crd', 'gadgets.suite.example.com'], prints: /deleted/ },
        {
          args: ['get', 'gadgets'],
          fails: true,
          complains: /the server doesn't have a resource type "gadgets"|could not find the requested resource/,
        },
      ],
    },
    {
      it: 'says of a kind that it does not have that there is none',
      steps: [
        {
          args: ['apply', '-f', '-'],
          input: { apiVersion: 'suite.example.com/v9', kind: 'Widget', metadata: { name: 'none' } },
          fails: true,
          complains: /no matches for kind "Widget" in version "suite.example.com\/v9"/,
        },
      ],
    },
    {
      it: 'deletes what an object owns, and a namespace with all that is in it',
      steps: [
        { args: ['delete', 'deploy', 'shown', '--cascade=foreground', TIMEOUT], prints: /deleted/ },
        { args: ['get', 'rs,pods', '-l', 'app=shown'], complains: /No resources found/ },
        { args: ['create', 'configmap', 'inside', '--namespace=suite-extra'], prints: /created/ },
        { args: ['delete', 'namespace', 'suite-extra', TIMEOUT], prints: /namespace "suite-extra" deleted/ },
        {
          args: ['create', 'configmap', 'inside', '--namespace=suite-extra'],
          fails: true,
          complains: /namespaces "suite-extra" not found/,
        },
        {
          args: ['delete', 'namespace', 'default'],
          fails: true,
          complains: /namespaces "default" is forbidden: this namespace may not be deleted/,
        },
        { args: ['delete', 'cm', '--all'], prints: /configmap "twice" deleted/ },
      ],
    },
  ];
}
