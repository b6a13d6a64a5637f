// A small valid object of every kind that clients create. Their lists have one element, from which extreme ones are made.
import { storedKinds } from '../../src/api/kinds.ts'
import type { Kind } from '../../src/api/kind/kind.ts'

export interface BaseObject {
  readonly kind: Kind
  readonly body: Readonly<Record<string, unknown>>
}

const labels = { app: 'extreme' }
const selector = { matchLabels: labels }
const resources = { requests: { cpu: '1m' }, limits: { cpu: '1' } }
const probe = { httpGet: { path: '/', port: 80, httpHeaders: [{ name: 'X', value: 'x' }] } }
const podSpec = {
  containers: [
    {
      name: 'c',
      image: 'i',
      command: ['run'],
      args: ['x'],
      env: [{ name: 'A', value: 'a' }],
      envFrom: [{ configMapRef: { name: 'none', optional: true } }],
      ports: [{ name: 'web', containerPort: 80 }],
      resources,
      volumeMounts: [{ name: 'v', mountPath: '/v' }],
      readinessProbe: probe,
      securityContext: { capabilities: { add: ['CHOWN'], drop: ['KILL'] } },
    },
  ],
  initContainers: [{ name: 'i', image: 'i' }],
  volumes: [{ name: 'v', emptyDir: {} }],
  tolerations: [{ key: 'k', operator: 'Exists' }],
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['h'] }],
  imagePullSecrets: [{ name: 's' }],
  nodeSelector: {},
  readinessGates: [],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: selector },
  ],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: selector, namespaces: ['n'] } },
      ],
    },
  },
  dnsConfig: { nameservers: ['10.0.0.1'], searches: ['a.example'], options: [{ name: 'o' }] },
  securityContext: { supplementalGroups: [1], sysctls: [] },
}
const template = { metadata: { labels }, spec: podSpec }
const smallTemplate = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const jobTemplate = { metadata: { labels }, spec: { ...smallTemplate.spec, restartPolicy: 'Never' } }
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const rules = [{ apiGroups: ['a'], resources: ['r'], verbs: ['get'], resourceNames: ['n'] }]
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }]
const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'none' })
const webhook = {
  name: 'w.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/w' },
  rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nones'] }],
  failurePolicy: 'Ignore',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  namespaceSelector: selector,
  matchConditions: [{ name: 'm', expression: 'true' }],
}
const policyMatch = {
  resourceRules: [
    { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nones'] },
  ],
}
const deviceRequests = [{ name: 'r', exactly: { deviceClassName: 'none', tolerations: [], selectors: [] } }]
const backend = { service: { name: 's', port: { number: 80 } } }

/** By the kind's name; `apiVersion/kind` where two groups have one of that name. */
const bodies: Readonly<Record<string, object>> = {
  APIService: {
    metadata: { name: 'v1.none.example.com' },
    spec: { group: 'none.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
  },
  CSIDriver: { spec: { tokenRequests: [{ audience: 'a' }], volumeLifecycleModes: ['Persistent'] } },
  CSINode: { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['zone'], allocatable: { count: 1 } }] } },
  CSIStorageCapacity: { storageClassName: 'none', nodeTopology: selector, capacity: '1Gi' },
  ClusterRole: { rules, aggregationRule: { clusterRoleSelectors: [selector] } },
  ClusterRoleBinding: { roleRef: roleRef('ClusterRole'), subjects },
  ConfigMap: { data: { k: 'v' }, binaryData: { b: 'eA==' } },
  ControllerRevision: { revision: 1, data: { a: 1 } },
  CronJob: {
    spec: { schedule: '0 0 31 2 *', timeZone: 'Europe/Berlin', jobTemplate: { spec: { template: jobTemplate } } },
  },
  CustomResourceDefinition: {
    metadata: { name: 'extremes.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'extremes', singular: 'extreme', kind: 'Extreme', shortNames: ['ext'], categories: ['all'] },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          additionalPrinterColumns: [{ name: 'a', type: 'string', jsonPath: '.spec.a' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
            },
          },
        },
      ],
    },
  },
  DaemonSet: { spec: { selector, template: smallTemplate } },
  Deployment: { spec: { selector, template } },
  DeviceClass: { spec: { selectors: [{ cel: { expression: 'true' } }], config: [] } },
  EndpointSlice: {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: {} }],
    ports: [{ name: 'p', port: 80, protocol: 'TCP' }],
  },
  Endpoints: {
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [], ports: [{ name: 'p', port: 80 }] }],
  },
  'v1/Event': { involvedObject: { kind: 'Pod', namespace: 'extreme', name: 'p' }, reason: 'R', message: 'm' },
  FlowSchema: {
    spec: {
      priorityLevelConfiguration: { name: 'global-default' },
      matchingPrecedence: 9000,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'u' } }],
          resourceRules: [{ verbs: ['get'], apiGroups: ['a'], resources: ['r'], namespaces: ['n'] }],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/none'] }],
        },
      ],
    },
  },
  HorizontalPodAutoscaler: {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' },
      maxReplicas: 2,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
      behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } },
    },
  },
  Ingress: {
    spec: {
      rules: [{ host: 'a.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      tls: [{ hosts: ['a.example'], secretName: 's' }],
    },
  },
  IngressClass: { spec: { controller: 'none.example.com/c' } },
  Job: {
    spec: {
      template: jobTemplate,
      completionMode: 'Indexed',
      completions: 1,
      podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }] },
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
    },
  },
  Lease: { spec: { holderIdentity: 'h', leaseDurationSeconds: 1 } },
  LimitRange: { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '9Ei' } }] } },
  MutatingAdmissionPolicy: {
    spec: {
      matchConstraints: policyMatch,
      reinvocationPolicy: 'Never',
      variables: [{ name: 'v', expression: 'true' }],
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
    },
  },
  MutatingAdmissionPolicyBinding: { spec: { policyName: 'none', matchResources: policyMatch } },
  MutatingWebhookConfiguration: { webhooks: [webhook] },
  Namespace: {},
  NetworkPolicy: {
    spec: {
      podSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
      ingress: [
        { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.0.0.0/24'] } }], ports: [{ port: 80, endPort: 90 }] },
      ],
    },
  },
  Node: { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }], unschedulable: true } },
  PersistentVolume: {
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/x' },
      mountOptions: ['o'],
    },
  },
  PersistentVolumeClaim: { spec: { ...claimSpec, storageClassName: 'none', selector } },
  Pod: { spec: podSpec },
  PodDisruptionBudget: { spec: { maxUnavailable: 1, selector } },
  PodTemplate: { template: smallTemplate },
  PriorityClass: { value: 1 },
  PriorityLevelConfiguration: { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } },
  ReplicaSet: { spec: { selector, template: smallTemplate } },
  ReplicationController: { spec: { selector: labels, template: smallTemplate } },
  ResourceClaim: { spec: { devices: { requests: deviceRequests } } },
  ResourceClaimTemplate: { spec: { spec: { devices: { requests: deviceRequests } } } },
  ResourceQuota: { spec: { hard: { 'count/nones.example.com': '1' } } },
  ResourceSlice: {
    spec: {
      driver: 'd.example.com',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      allNodes: true,
      devices: [{ name: 'd', attributes: { a: { string: 's' } }, capacity: { c: { value: '1' } } }],
    },
  },
  Role: { rules },
  RoleBinding: { roleRef: roleRef('Role'), subjects },
  RuntimeClass: { handler: 'h', scheduling: { nodeSelector: {}, tolerations: [{ key: 'k', operator: 'Exists' }] } },
  Secret: { data: { k: 'eA==' } },
  Service: {
    spec: {
      selector: labels,
      ports: [{ name: 'p', port: 80 }],
      externalIPs: ['192.0.2.1'],
      loadBalancerSourceRanges: [],
    },
  },
  ServiceAccount: { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 's' }] },
  ServiceCIDR: { spec: { cidrs: ['10.99.0.0/24'] } },
  StatefulSet: {
    spec: {
      selector,
      template: smallTemplate,
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec }],
    },
  },
  StorageClass: {
    provisioner: 'none.example.com',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
  },
  ValidatingAdmissionPolicy: {
    spec: {
      matchConstraints: policyMatch,
      validations: [{ expression: 'true' }],
      variables: [{ name: 'v', expression: 'true' }],
    },
  },
  ValidatingAdmissionPolicyBinding: {
    spec: { policyName: 'none', validationActions: ['Deny'], matchResources: policyMatch },
  },
  ValidatingWebhookConfiguration: { webhooks: [webhook] },
  VolumeAttachment: {
    spec: { attacher: 'none.example.com', nodeName: 'none', source: { persistentVolumeName: 'none' } },
  },
  VolumeAttributesClass: { driverName: 'none.example.com', parameters: { a: 'b' } },
}

/** Kinds of which the server makes the objects, or which need a signed request. */
export const withoutBase: readonly string[] = ['CertificateSigningRequest', 'IPAddress']

/** Kinds without a base object are an error of the test. */
export function baseObjects(): readonly BaseObject[] {
  return storedKinds.flatMap((kind) => {
    const body = bodies[`${kind.apiVersion}/${kind.kind}`] ?? bodies[kind.kind]
    if (body !== undefined) return [{ kind, body: body as Readonly<Record<string, unknown>> }]
    if (withoutBase.includes(kind.kind)) return []
    throw new Error(`there is no base object for ${kind.apiVersion} ${kind.kind}`)
  })
}
