// Scheduling as a person sees it: real kubectl, a process of its own, simulated nodes, two profiles, and coxswain why.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, startUp } from '../process.ts'

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

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
  const k = async (args: string[], input?: object) => {
    const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, args, { input: JSON.stringify(input ?? '') })
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  const apply = (object: object) => k(['apply', '-f', '-'], object)
  const why = (name: string) => promisify(execFile)(coxswain, ['why', `pod/${name}`, '--kubeconfig', up.kubeconfig])

  await apply(podNamed('big', '100'))
  await apply(podNamed('gated', '1', { schedulingGates: [{ name: 'x.y/z' }] }))
  await k(['wait', '--for=jsonpath={.status.conditions[0].reason}=Unschedulable', 'pod/big', '--timeout=20s'])
  match(await k(['get', 'pods']), /big +0\/1 +Pending .*\ngated +0\/1 +SchedulingGated /)
  match(
    await k(['describe', 'pod', 'big']),
    /Warning +FailedScheduling +\S+ +default-scheduler +0\/3 nodes are available: 3 Insufficient cpu\. no new claims to deallocate, preemption: 0\/3 nodes are available: 3 Preemption is not helpful for scheduling\./,
  )
  const explained = (await why('big')).stdout
  match(explained, /^default\/big waits: 0\/3 nodes are available: 3 Insufficient cpu\./)
  match(explained, /NODE +VERDICT +TOTAL +BECAUSE\nnode-0 +rejected +NodeResourcesFit: Insufficient cpu\n/)
  const metrics = await k(['get', '--raw', '/metrics'])
  match(metrics, /scheduler_schedule_attempts_total\{profile="default-scheduler",result="unschedulable"\} [1-9]/)
  match(metrics, /scheduler_pending_pods\{queue="gated"\} 1\n/)
  match(metrics, /scheduler_cache_size\{type="nodes"\} 3\n/)
  await k(['delete', 'pod', 'big', 'gated'])

  for (const name of ['p1', 'p2']) {
    await apply(podNamed(name, '2', { schedulerName: 'packer' }))
    await k(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=20s'])
  }
  const packed = await k(['get', 'pods', 'p1', 'p2', '-o', 'jsonpath={.items[*].spec.nodeName}'])
  equal(new Set(packed.split(' ')).size, 1)
  const placed = (await why('p2')).stdout
  match(placed, /^default\/p2 goes to node-\d\n\(packer at /)
  match(placed, /node-\d +fits +\d+ +NodeResourcesFit \d+\n/)
  await k(['delete', 'pod', 'p1', 'p2', '--timeout=60s'])

  for (const name of ['a', 'b', 'c']) await apply(podNamed(name, '6'))
  await k(['wait', '--for=condition=Ready', 'pod/a', 'pod/b', 'pod/c', '--timeout=20s'])
  const nodes = (await k(['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}'])).split(' ')
  deepEqual(nodes.toSorted(), ['node-0', 'node-1', 'node-2'])
  await apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 })
  await apply(podNamed('vip', '6', { priorityClassName: 'high' }))
  await k(['wait', '--for=condition=Ready', 'pod/vip', '--timeout=60s'])
  match(
    await k(['get', 'events', '--field-selector', 'reason=Preempted']),
    /Preempted +pod\/[abc] +Preempted by pod \S+ on node node-\d/,
  )
  equal((await k(['get', 'pods', '-o', 'name'])).trim().split('\n').length, 3)
})
