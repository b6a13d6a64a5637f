// Nodes and quotas with kubectl: cordon, drain within budgets, taint, and the usage of a namespace.
import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { untilMatch } from '../until.ts'

const kubectl = kubectls().at(-1)
if (kubectl === undefined) throw new Error('there is no kubectl')

async function start(nodes: string) {
  const up = await startUp('--store', 'memory', '--nodes', nodes)
  const tried = (...args: string[]) => runKubectl(kubectl as NonNullable<typeof kubectl>, up.kubeconfig, args)
  const k = async (...args: string[]) => {
    const { code, out, err } = await tried(...args)
    equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
    return out
  }
  return { k, tried, [Symbol.asyncDispose]: () => up[Symbol.asyncDispose]() }
}

test(`kubectl ${kubectl.version}: cordon, drain against a budget, uncordon`, async () => {
  await using cluster = await start('2')
  const { k, tried } = cluster
  const nodesOf = async () =>
    (await k('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}')).split(' ')
  equal(await k('cordon', 'node-1'), 'node/node-1 cordoned\n')
  match(await k('get', 'node', 'node-1', '--no-headers'), /^node-1 +Ready,SchedulingDisabled /)
  await k('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await k('rollout', 'status', 'deploy/web', '--timeout=200s')
  equal((await nodesOf()).join(), 'node-0,node-0')
  equal(
    await k('create', 'pdb', 'web', '--selector=app=web', '--min-available=2'),
    'poddisruptionbudget.policy/web created\n',
  )
  await k('wait', 'pdb/web', '--for=jsonpath={.status.currentHealthy}=2', '--timeout=200s')
  match(await k('get', 'pdb', 'web', '--no-headers'), /^web +2 +N\/A +0 /)
  const refused = await tried('drain', 'node-0', '--ignore-daemonsets', '--timeout=8s')
  equal(refused.code, 1)
  match(refused.out, /node\/node-0 cordoned\nevicting pod default\/web-/)
  match(
    refused.err,
    /error when evicting pods\/"web-\S+" -n "default" \(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
  )
  equal((await nodesOf()).join(), 'node-0,node-0', 'no pod was evicted')
  equal(await k('uncordon', 'node-1'), 'node/node-1 uncordoned\n')
  await k('patch', 'pdb', 'web', '-p', '{"spec":{"minAvailable":1}}')
  const drained = await k('drain', 'node-0', '--ignore-daemonsets', '--timeout=200s')
  match(drained, /^node\/node-0 already cordoned\n/)
  match(drained, /pod\/web-\S+ evicted\n/)
  match(drained, /node\/node-0 drained\n$/)
  await k('rollout', 'status', 'deploy/web', '--timeout=200s')
  equal((await nodesOf()).join(), 'node-1,node-1')
  equal(await k('uncordon', 'node-0'), 'node/node-0 uncordoned\n')
  const lone = await tried('run', 'lone', '--image=nginx', '--overrides={"spec":{"nodeName":"node-0"}}')
  equal(lone.code, 0)
  const unmanaged = await tried('drain', 'node-0', '--timeout=3s')
  match(unmanaged.err, /cannot delete Pods that declare no controller \(use --force to override\): default\/lone/)
  match(await k('drain', 'node-0', '--force', '--timeout=200s'), /pod\/lone evicted\nnode\/node-0 drained\n$/)
})

test(`kubectl ${kubectl.version}: taints keep pods off a node and evict them`, async () => {
  await using cluster = await start('2')
  const { k } = cluster
  equal(await k('taint', 'node', 'node-0', 'team=a:NoSchedule'), 'node/node-0 tainted\n')
  await k('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await k('rollout', 'status', 'deploy/web', '--timeout=200s')
  const nodesOf = () => k('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}')
  equal(await nodesOf(), 'node-1 node-1')
  equal(await k('taint', 'node', 'node-0', 'team-'), 'node/node-0 untainted\n')
  const sent = (await k('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n')
  equal(await k('taint', 'node', 'node-1', 'broken=yes:NoExecute'), 'node/node-1 tainted\n')
  await k('wait', '--for=delete', ...sent, '--timeout=200s')
  await k('rollout', 'status', 'deploy/web', '--timeout=200s')
  await untilMatch(nodesOf, /^node-0 node-0$/)
  await untilMatch(
    () => k('get', 'events', '--field-selector=reason=TaintManagerEviction'),
    /Marking for deletion Pod default\/web-/,
  )
})

test(`kubectl ${kubectl.version}: a quota reports its usage, which decreases after deletes`, async () => {
  await using cluster = await start('1')
  const { k, tried } = cluster
  equal(await k('create', 'quota', 'q', '--hard=pods=1,configmaps=3'), 'resourcequota/q created\n')
  await k('wait', 'quota/q', '--for=jsonpath={.status.used.pods}=0', '--timeout=200s')
  await k('wait', 'quota/q', '--for=jsonpath={.status.used.configmaps}=1', '--timeout=200s')
  await k('run', 'one', '--image=nginx')
  match(await k('get', 'quota', 'q', '--no-headers'), /^q +configmaps: 1\/3, pods: 1\/1 /)
  const second = await tried('run', 'two', '--image=nginx')
  match(second.err, /pods "two" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1/)
  match(await k('describe', 'quota', 'q'), /Resource +Used +Hard\n-+ +-+ +-+\nconfigmaps +1 +3\npods +1 +1\n/)
  await k('delete', 'pod', 'one', '--timeout=200s')
  await k('wait', 'quota/q', '--for=jsonpath={.status.used.pods}=0', '--timeout=200s')
  ok((await tried('run', 'two', '--image=nginx')).code === 0)
})
