// Scheduling as users see it: real kubectl, a separate process, simulated nodes, two profiles, and coxswain why; then
// spread, affinity, volumes and a nominated node.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl, type Kubectl } from '../kubectl.ts'
import { coxswain, startUp, type RunningUp } from '../process.ts'

function newestKubectl(): Kubectl {
  const newest = kubectls().at(-1)
  if (newest === undefined) throw new Error('there is no kubectl')
  return newest
}
const kubectl = newestKubectl()

const configuration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  plugins:
    score:
      disabled: [{ name: '*' }]
      enabled: [{ name: NodeResourcesFit }]
  pluginConfig:
  - name: NodeResourcesFit
    args: { scoringStrategy: { type: MostAllocated, resources: [{ name: cpu, weight: 1 }] } }
`

const podNamed = (name: string, cpu: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }], ...spec },
})

function kubectlOn(up: RunningUp) {
  const k = async (args: string[], input?: object) => {
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args, { input: JSON.stringify(input ?? '') })
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  return { k, apply: (...items: object[]) => k(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items }) }
}

test(`kubectl ${kubectl.version}: pending, gated, preempted, packed, explained`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-scheduler-'))
  await writeFile(join(folder, 'scheduler.yaml'), configuration)
  await using up = await startUp(
    '--store',
    'memory',
    '--nodes',
    '3',
    '--scheduler-config',
    join(folder, 'scheduler.yaml'),
  )
  await rm(folder, { recursive: true })
  const { k, apply } = kubectlOn(up)
  const why = (name: string) => promisify(execFile)(coxswain, ['why', `pod/${name}`, '--kubeconfig', up.kubeconfig])

  await apply(podNamed('big', '100'))
  await apply(podNamed('gated', '1', { schedulingGates: [{ name: 'x.y/z' }] }))
  await k(['wait', '--for=jsonpath={.status.conditions[0].reason}=Unschedulable', 'pod/big', '--timeout=200s'])
  match(await k(['get', 'pods']), /big +0\/1 +Pending .*\ngated +0\/1 +SchedulingGated /)
  match(
    await k(['describe', 'pod', 'big']),
    /Warning +FailedScheduling +\S+ +default-scheduler +0\/3 nodes are available: 3 Insufficient cpu\. no new claims to deallocate, preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\./,
  )
  const explained = (await why('big')).stdout
  match(
    explained,
    /It cannot be scheduled: Unschedulable: 0\/3 nodes are available: 3 Insufficient cpu\.[^]*\nDecision of default-scheduler at .*: no node fits$/m,
  )
  match(explained, /NODE +VERDICT +SCORE +DETAILS\nnode-0 +rejected +NodeResourcesFit: Insufficient cpu\n/)
  const metrics = await k(['get', '--raw', '/metrics'])
  match(metrics, /scheduler_schedule_attempts_total\{profile="default-scheduler",result="unschedulable"\} [1-9]/)
  match(metrics, /scheduler_pending_pods\{queue="gated"\} 1\n/)
  match(metrics, /scheduler_cache_size\{type="nodes"\} 3\n/)
  await k(['delete', 'pod', 'big', 'gated'])

  for (const name of ['p1', 'p2']) {
    await apply(podNamed(name, '2', { schedulerName: 'packer' }))
    await k(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=200s'])
  }
  const packed = await k(['get', 'pods', 'p1', 'p2', '-o', 'jsonpath={.items[*].spec.nodeName}'])
  equal(new Set(packed.split(' ')).size, 1)
  const placed = (await why('p2')).stdout
  match(placed, /^Decision of packer at \S+: node-\d$/m)
  match(placed, /node-\d +fits +\d+ +NodeResourcesFit \d+\n/)
  await k(['delete', 'pod', 'p1', 'p2', '--timeout=200s'])

  for (const name of ['a', 'b', 'c']) await apply(podNamed(name, '6'))
  await k(['wait', '--for=condition=Ready', 'pod/a', 'pod/b', 'pod/c', '--timeout=200s'])
  const nodes = (await k(['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}'])).split(' ')
  deepEqual(nodes.toSorted(), ['node-0', 'node-1', 'node-2'])
  await apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 })
  await apply(podNamed('vip', '6', { priorityClassName: 'high' }))
  await k(['wait', '--for=condition=Ready', 'pod/vip', '--timeout=200s'])
  match(
    await k(['get', 'events', '--field-selector', 'reason=Preempted']),
    /Preempted +pod\/[abc] +Preempted by pod \S+ on node node-\d/,
  )
  equal((await k(['get', 'pods', '-o', 'name'])).trim().split('\n').length, 3)
})

test(`kubectl ${kubectl.version}: spread, anti-affinity, affinity, volumes, and a nomination`, async () => {
  await using up = await startUp('--store', 'memory', '--nodes', '3')
  const { k, apply } = kubectlOn(up)
  const nodesOf = async (label: string) =>
    (await k(['get', 'pods', '-l', label, '-o', 'jsonpath={.items[*].spec.nodeName}'])).split(' ').toSorted()
  const messageOf = (name: string) => k(['get', 'pod', name, '-o', 'jsonpath={.status.conditions[0].message}'])
  const labelled = (name: string, app: string, spec: object) => {
    const made = podNamed(name, '100m', spec)
    return { ...made, metadata: { name, labels: { app } } }
  }
  const isPending = (name: string) =>
    k(['wait', '--for=jsonpath={.status.conditions[0].reason}=Unschedulable', `pod/${name}`, '--timeout=200s'])
  for (const [index, zone] of ['a', 'a', 'b'].entries()) await k(['label', 'node', `node-${index}`, `zone=${zone}`])

  const labelSelector = { matchLabels: { app: 'spread' } }
  const spread = {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector }],
  }
  await apply(...['s1', 's2'].map((name) => labelled(name, 'spread', spread)))
  await k(['wait', '--for=condition=Ready', 'pod', '-l', 'app=spread', '--timeout=200s'])
  const [first, second] = await nodesOf('app=spread')
  match(`${first} ${second}`, /^node-[01] node-2$/)

  const term = (topologyKey: string) => ({ labelSelector: { matchLabels: { app: 'apart' } }, topologyKey })
  const apart = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('kubernetes.io/hostname')] } },
  }
  await apply(...['a1', 'a2', 'a3'].map((name) => labelled(name, 'apart', apart)))
  await k(['wait', '--for=condition=Ready', 'pod', '-l', 'app=apart', '--timeout=200s'])
  deepEqual(await nodesOf('app=apart'), ['node-0', 'node-1', 'node-2'])
  await apply(labelled('a4', 'apart', apart))
  await isPending('a4')
  match(await messageOf('a4'), /^0\/3 nodes are available: 3 node\(s\) didn't match pod anti-affinity rules\./)
  await k(['delete', 'pod', 'a2', '--timeout=200s'])
  await k(['wait', '--for=condition=Ready', 'pod/a4', '--timeout=200s'])

  const near = { labelSelector: { matchLabels: { app: 'leader' } }, topologyKey: 'zone' }
  const together = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } } }
  await apply(labelled('follower', 'together', together))
  await isPending('follower')
  match(await messageOf('follower'), /3 node\(s\) didn't match pod affinity rules\./)
  await apply(labelled('leader', 'leader', { nodeSelector: { zone: 'b' } }))
  await k(['wait', '--for=condition=Ready', 'pod/follower', '--timeout=200s'])
  deepEqual(await nodesOf('app=together'), ['node-2'])

  const resources = { requests: { storage: '1Gi' } }
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }]
  const local = {
    capacity: { storage: '5Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'local',
    local: { path: '/disk' },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
  }
  await apply(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'disk' }, spec: local },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources },
    },
    labelled('keeper', 'volume', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] }),
  )
  await k(['wait', '--for=jsonpath={.spec.claimRef.name}=data', 'pv/disk', '--timeout=200s'])
  // The volume controller does this when the scheduler has chosen a node.
  const bound = {
    metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: 'disk' },
  }
  await k(['patch', 'pvc', 'data', '--type=merge', '-p', JSON.stringify(bound)])
  await k(['wait', '--for=jsonpath={.spec.nodeName}=node-1', 'pod/keeper', '--timeout=200s'])

  // A node without a kubelet: the victim is never confirmed as terminated, so the nomination can be observed.
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'ghost', labels: { ghost: 'yes' } },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } },
    },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 },
  )
  const haunted = { nodeSelector: { ghost: 'yes' }, tolerations: [{ operator: 'Exists' }] }
  await apply(podNamed('old', '3', haunted))
  await k(['wait', '--for=jsonpath={.spec.nodeName}=ghost', 'pod/old', '--timeout=200s'])
  await apply(podNamed('vip', '3', { ...haunted, priorityClassName: 'high' }))
  await k(['wait', '--for=jsonpath={.status.nominatedNodeName}=ghost', 'pod/vip', '--timeout=200s'])
  match(await k(['get', 'pod', 'vip', '-o', 'wide']), /vip +0\/1 +Pending .* <none> +ghost +<none>/)
  await apply(podNamed('lesser', '1500m', haunted))
  await isPending('lesser')
  await k(['delete', 'pod', 'old', '--force', '--grace-period=0'])
  await k(['wait', '--for=jsonpath={.spec.nodeName}=ghost', 'pod/vip', '--timeout=200s'])
  equal(await k(['get', 'pod', 'lesser', '-o', 'jsonpath={.spec.nodeName}']), '')
})
