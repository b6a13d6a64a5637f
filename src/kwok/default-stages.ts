// The stages of nodes and pods while there are none for their kind: a node is ready at once and reports every five minutes, a pod
// runs at once, that of a Job completes, and a deleted one is removed.
import type { Node } from '../api/core/v1/node/node.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import { parseJq } from './jq/jq-parser.ts'
import { nodeConditions } from './stages/node-conditions.ts'
import type { PatchContent, Requirement, Stage, StageStep } from './stages/stage.ts'

const heartbeatMs = 300_000
const heartbeatMsMax = 360_000

type Content<T> = (object: T, functions: Parameters<PatchContent>[1]) => object

const status = <T>(content: Content<T>): StageStep => ({
  kind: 'patch',
  patchType: 'strategic',
  subresource: 'status',
  root: 'status',
  content: (object, functions) => content(object as T, functions) as ReturnType<PatchContent>,
})

const requirement = (key: string, operator: Requirement['operator'], ...values: string[]): Requirement => ({
  query: parseJq(key),
  operator,
  values,
})

interface Described {
  readonly requirements: readonly Requirement[]
  readonly steps: readonly StageStep[]
  readonly delayMs?: readonly [least: number, most: number]
}

const none = { value: undefined, from: undefined }

const stage = (kind: 'Node' | 'Pod', name: string, { requirements, steps, delayMs }: Described): Stage => ({
  name,
  apiVersion: 'v1',
  kind,
  labels: {},
  annotations: {},
  requirements,
  weight: none,
  delay: delayMs && {
    durationMs: { value: delayMs[0], from: undefined },
    jitterMs: { value: delayMs[1], from: undefined },
  },
  steps,
})

const ready = '.status.conditions.[] | select(.type == "Ready") | .status'
const conditionsAt = (now: string) =>
  nodeConditions.map((condition) => ({ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }))

const nodeReady = status<Node>(({ metadata, status: present }, functions) => {
  const resources = { cpu: '1k', memory: '1Ti', pods: '1M' }
  const { capacity = resources } = present
  const address = functions.nodeIp()
  const version = `kwok-${functions.version()}`
  return {
    conditions: conditionsAt(functions.now()),
    addresses: present.addresses ?? [
      ...(address === '' ? [] : [{ type: 'InternalIP', address }]),
      { type: 'Hostname', address: metadata.name },
    ],
    capacity,
    allocatable: present.allocatable ?? capacity,
    nodeInfo: {
      architecture: 'amd64',
      bootID: '',
      containerRuntimeVersion: version,
      kernelVersion: version,
      kubeProxyVersion: version,
      kubeletVersion: version,
      machineID: '',
      operatingSystem: 'linux',
      osImage: '',
      systemUUID: '',
      ...withoutEmpty(present.nodeInfo),
    },
    phase: 'Running',
  }
})

/** A node that was created without a status has texts that are empty. */
const withoutEmpty = (texts: object = {}): object =>
  Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''))

const nodeHeartbeat = status<Node>((_, functions) => {
  const now = functions.now()
  return { conditions: nodeConditions.map(({ type }) => ({ type, lastHeartbeatTime: now })) }
})

const transition = (now: string) => (type: string) => ({ type, status: 'True', lastTransitionTime: now })

const podReady = status<Pod>(({ metadata, spec }, functions) => {
  const now = functions.now()
  const { nodeName = '', hostNetwork = false, containers, initContainers = [], readinessGates = [] } = spec
  const { uid, name, namespace = '' } = metadata
  const gates = readinessGates.map(({ conditionType }) => conditionType)
  const container = ({ name: named, image = '' }: { readonly name: string; readonly image?: string }) => ({
    name: named,
    image,
    imageID: '',
    restartCount: 0,
    ready: true,
  })
  const running = { running: { startedAt: now } }
  const completed = { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
  const podIP = functions.podIpWith(nodeName, hostNetwork, uid, name, namespace)
  const hostIP = functions.nodeIpWith(nodeName)
  return {
    phase: 'Running',
    startTime: now,
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', ...gates].map(transition(now)),
    containerStatuses: containers.map((each) => ({ ...container(each), started: true, state: running })),
    ...(initContainers.length > 0 && {
      initContainerStatuses: initContainers.map((each) =>
        each.restartPolicy === 'Always'
          ? { ...container(each), started: true, state: running }
          : { ...container(each), started: false, state: completed },
      ),
    }),
    ...(hostIP !== '' && { hostIP, hostIPs: [{ ip: hostIP }] }),
    podIP,
    podIPs: [{ ip: podIP }],
  }
})

const podComplete = status<Pod>(({ spec, status: present }, functions) => {
  const now = functions.now()
  const terminated = (startedAt: string | undefined) => ({
    exitCode: 0,
    reason: 'Completed',
    startedAt: startedAt ?? now,
    finishedAt: now,
  })
  return {
    phase: 'Succeeded',
    conditions: ['Ready', 'ContainersReady'].map((type) => ({
      type,
      status: 'False',
      reason: 'PodCompleted',
      lastTransitionTime: now,
    })),
    containerStatuses: spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: '',
      restartCount: 0,
      ready: false,
      started: false,
      state: { running: null, terminated: terminated(present?.startTime) },
    })),
  }
})

const isAlive = requirement('.metadata.deletionTimestamp', 'DoesNotExist')

export const defaultStages: readonly Stage[] = [
  stage('Node', 'node-ready', { requirements: [requirement(ready, 'NotIn', 'True')], steps: [nodeReady] }),
  stage('Node', 'node-heartbeat', {
    requirements: [requirement(ready, 'In', 'True')],
    delayMs: [heartbeatMs, heartbeatMsMax],
    steps: [nodeHeartbeat],
  }),
  stage('Pod', 'pod-ready', {
    requirements: [isAlive, requirement('.status.podIP', 'DoesNotExist')],
    steps: [podReady],
  }),
  stage('Pod', 'pod-complete', {
    requirements: [
      isAlive,
      requirement('.status.phase', 'In', 'Running'),
      requirement('.metadata.ownerReferences[]?.kind', 'In', 'Job'),
    ],
    steps: [podComplete],
  }),
  stage('Pod', 'pod-delete', {
    requirements: [requirement('.metadata.deletionTimestamp', 'Exists')],
    steps: [{ kind: 'finalizers', finalizers: { empty: true } }, { kind: 'delete' }],
  }),
]
