import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { bridge, machineNetworks, removeBridge, parseRoutes, lockMachine, podRangeConflict } from './machine-network.ts'

const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
vpn0	0000F40A	00000000	0001	0	0	0	0000FFFF	0	0	0
`

test('routes are parsed in the format of the kernel, without the default route', () =>
  deepEqual(parseRoutes(table), [
    { device: 'eth0', cidr: '192.0.2.0/24' },
    { device: 'vpn0', cidr: '10.244.0.0/16' },
  ]))

test('the pod network does not overlap a network of the machine', () => {
  match(podRangeConflict('10.244.0.0/24', parseRoutes(table)) ?? '', /are those of vpn0 \(10.244.0.0\/16\)/)
  equal(podRangeConflict('10.99.0.0/24', parseRoutes(table)), undefined)
  equal(
    machineNetworks().every(({ device, cidr }) => device !== bridge && cidr.includes('/')),
    true,
  )
})

test('only one process runs containers on a machine at a time', async () => {
  const taken = await lockMachine().catch(() => undefined)
  await rejects(lockMachine(), /another coxswain runs containers on this machine/)
  await taken?.[Symbol.asyncDispose]()
})

const links: [why: string, shown: { code: number; stdout: string }, ran: number][] = [
  ['it does not exist', { code: 1, stdout: '' }, 1],
  ['a pod is connected to it', { code: 0, stdout: '7: veth1@if2: …\n' }, 1],
  ['no pod is connected to it', { code: 0, stdout: '' }, 2],
]
for (const [why, shown, count] of links)
  test(`the bridge: ${why}`, async () => {
    const ran: string[] = []
    const run = (command: string, args: readonly string[]) => {
      ran.push(`${command} ${args.join(' ')}`)
      return Promise.resolve({ ...shown, stderr: '' })
    }
    await removeBridge({ run }, new AbortController().signal)
    equal(ran.length, count)
    if (count === 2) equal(ran[1], 'ip link delete coxswain0')
  })
