// Announced addresses through iproute2: which commands run, and what is left alone.
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseInterfaceName } from '../../base/net/interface-name.ts'
import { mustParseIp, parseIps } from '../../base/net/ip-address.ts'
import { SimulatedKernelSettings } from '../kernel-settings/simulated-kernel-settings.ts'
import { addressChanges, type LinkAddresses } from './address-changes.ts'
import { NodeAnnouncedAddresses } from './node-announced-addresses.ts'

const { signal } = new AbortController()
const eth0 = (...addresses: readonly (readonly [local: string, seconds: number])[]): LinkAddresses => ({
  ifname: 'eth0',
  address: '02:00:00:00:00:01',
  addr_info: addresses.map(([local, seconds]) => ({ local, valid_life_time: seconds })),
})
const forever = 4_294_967_295
const v4 = 'addr replace 10.0.0.240/32 dev eth0 valid_lft 3 preferred_lft 0'
const v6 = 'addr replace fd00::f0/128 dev eth0 valid_lft 3 preferred_lft 0 nodad noprefixroute'

const cases: readonly [
  name: string,
  wanted: string[],
  held: string[],
  LinkAddresses,
  lines: string[],
  problems: string[],
][] = [
  ['a new address is added where its route leads', ['10.0.0.240'], [], eth0(), [v4], []],
  ['an address of IPv6 is usable at once', ['fd00::f0'], [], eth0(), [v6], []],
  [
    'an address that is about to expire is refreshed',
    ['10.0.0.240'],
    ['10.0.0.240'],
    eth0(['10.0.0.240', 2]),
    [v4],
    [],
  ],
  ['an address of a process before is taken over', ['10.0.0.240'], [], eth0(['10.0.0.240', 3]), [v4], []],
  [
    'an address of this machine is left alone',
    ['10.0.0.240'],
    [],
    eth0(['10.0.0.240', forever]),
    [],
    ['10.0.0.240: this machine has the address already, and not as a load balancer'],
  ],
  [
    'an address with a longer lease of DHCP is left alone',
    ['10.0.0.240'],
    ['10.0.0.240'],
    eth0(['10.0.0.240', 60]),
    [],
    ['10.0.0.240: this machine has the address already, and not as a load balancer'],
  ],
  [
    'an address without a route is a problem',
    ['10.1.0.1'],
    [],
    eth0(),
    [],
    ['10.1.0.1: this machine has no route to the address'],
  ],
  [
    'an address that is not wanted any longer is removed',
    [],
    ['10.0.0.240'],
    eth0(['10.0.0.240', 2]),
    ['addr del 10.0.0.240/32 dev eth0'],
    [],
  ],
  ['unless it has expired', [], ['10.0.0.240'], eth0(), [], []],
  ['or belongs to someone else by now', [], ['10.0.0.240'], eth0(['10.0.0.240', forever]), [], []],
  ['addresses that were never set are not removed', [], [], eth0(['10.0.0.240', 2]), [], []],
]
for (const [name, wanted, held, link, lines, problems] of cases)
  test(name, () => {
    const device = mustParseInterfaceName('eth0')
    const routes = new Map([mustParseIp('10.0.0.240'), mustParseIp('fd00::f0')].map((address) => [address, device]))
    const changes = addressChanges(parseIps(wanted), new Set(parseIps(held)), [link], routes)
    deepEqual(
      [changes.lines, Array.from(changes.problems, ([address, why]) => `${address}: ${why}`)],
      [lines, problems],
    )
  })

/** `ip` on a machine with one interface; records what it ran. */
class FakeIp {
  readonly commands: string[] = []
  link = eth0(['10.0.0.1', forever])
  failure = ''

  readonly run = (_: string, args: readonly string[], { input = '' }: { input?: string | Uint8Array }) => {
    const command = [...args.filter((each) => !each.startsWith('-')), String(input).trim()].join(' ').trim()
    if (this.failure !== '' && command.includes(this.failure))
      return Promise.resolve({ code: 2, stdout: '', stderr: 'RTNETLINK answers: no' })
    if (command === 'addr show') return Promise.resolve({ code: 0, stdout: JSON.stringify([this.link]), stderr: '' })
    if (command.startsWith('route get')) {
      const hasRoute = command.includes('10.0.0')
      return Promise.resolve({ code: hasRoute ? 0 : 2, stdout: hasRoute ? '[{"dev":"eth0"}]' : '', stderr: '' })
    }
    this.commands.push(command)
    return Promise.resolve({ code: 0, stdout: '', stderr: '' })
  }
}

const notify = 'link set dev eth0 address 02:00:00:00:00:01'

test('neighbours are notified of a new address three times', async () => {
  const ip = new FakeIp()
  const kernelSettings = new SimulatedKernelSettings({ 'net/ipv4/conf/eth0/arp_notify': '0' })
  const announced = new NodeAnnouncedAddresses({ processes: ip, kernelSettings })
  deepEqual(await announced.set([], signal), new Map())
  deepEqual(ip.commands, [], 'nothing runs while nothing is announced')
  deepEqual(
    await announced.set(parseIps(['10.0.0.240', '10.9.0.1']), signal),
    new Map([['10.9.0.1', 'this machine has no route to the address']]),
  )
  ip.link = eth0(['10.0.0.240', 2])
  for (let times = 0; times < 3; times++) await announced.set(parseIps(['10.0.0.240']), signal)
  deepEqual(ip.commands, [v4, notify, v4, notify, v4, notify, v4])
  deepEqual(kernelSettings.values.get('net/ipv4/conf/eth0/arp_notify'), '1')
  ip.commands.length = 0
  await announced.set([], signal)
  await announced.set([], signal)
  deepEqual(ip.commands, ['addr del 10.0.0.240/32 dev eth0'])
})

test('a failure is reported, and the next call tries again', async () => {
  const ip = new FakeIp()
  const announced = new NodeAnnouncedAddresses({ processes: ip, kernelSettings: new SimulatedKernelSettings() })
  ip.failure = 'addr replace'
  await rejects(announced.set(parseIps(['10.0.0.240']), signal), /ip -batch: RTNETLINK answers: no/)
  ip.failure = ''
  ip.link = { ifname: 'eth0' }
  await announced.set(parseIps(['10.0.0.240']), signal)
  deepEqual(ip.commands, [v4], 'an interface without a hardware address has no neighbours')
})
