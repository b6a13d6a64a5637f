// coxswain up with two ranges of cluster IPs, the IPv6 range first, and a range of node ports.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'

test('the flags determine the families, addresses and node ports of Services', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const ranges = [
    '--service-cluster-ip-range',
    'fd00:96::/112,10.96.0.0/16',
    '--service-node-port-range',
    '31000-31000',
  ]
  await using up = await startUp('--store', 'memory', '--runtime', 'none', ...ranges)
  const k = async (args: string) => runKubectl(kubectl, up.kubeconfig, args.split(' '))
  const fields = async (name: string, paths: string) => (await k(`get service ${name} -o jsonpath=${paths}`)).out
  equal((await k('get servicecidr kubernetes -o jsonpath={.spec.cidrs}')).out, '["fd00:96::/112","10.96.0.0/16"]')
  equal(await fields('kubernetes', '{.spec.clusterIP}{.spec.ipFamilies}'), 'fd00:96::1["IPv6"]')
  equal((await k('create service nodeport first --tcp=80')).code, 0)
  match(await fields('first', '{.spec.clusterIP}'), /^fd00:96::/)
  equal(await fields('first', '{.spec.ports[0].nodePort}'), '31000')
  const second = await k('create service nodeport second --tcp=80')
  deepEqual([second.code, /failed to allocate a nodePort: range is full/.test(second.err)], [1, true])
  const policy = JSON.stringify({ spec: { ipFamilyPolicy: 'RequireDualStack' } })
  equal((await k(`patch service first -p ${policy}`)).code, 0)
  match(await fields('first', '{.spec.clusterIPs[1]}'), /^10\.96\./)
})

test('invalid ranges are rejected', async () => {
  const refused = startUp(
    '--store',
    'memory',
    '--runtime',
    'none',
    '--service-cluster-ip-range',
    '10.0.0.0/16,10.1.0.0/16',
  )
  const outcome = await refused.then(
    () => 'it started',
    (error: unknown) => String(error),
  )
  match(outcome, /must be of different IP family/)
})
