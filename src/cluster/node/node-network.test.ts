// The pod network of a node, with programs and files that only record what they are asked to do.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Files } from '../../platform/files.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { SimulatedKernelSettings } from '../../machine/kernel-settings/simulated-kernel-settings.ts'
import { provideNodeNetwork } from './node-network.ts'

const { signal } = new AbortController()
const configurationDirectory = '/etc/cni/net.d'
const forwarding = { IPv4: 'net/ipv4/ip_forward', IPv6: 'net/ipv6/conf/all/forwarding' }
/** The addresses of documentation and of unique local networks, which no machine has. */
const podRanges = ['198.51.100.0/26', 'fd12:3456:789a::/64']

/** `fails` selects the commands that exit with 1. */
function recordedMachine(configurations: readonly string[] = [], fails: (command: string) => boolean = () => false) {
  const written = new Map<string, string>()
  const commands: string[] = []
  const inputs: string[] = []
  const files: Pick<Files, 'list' | 'makeDirectory' | 'write'> = {
    write: (path, content) => Promise.resolve(void written.set(path, String(content))),
    list: () => Promise.resolve([...configurations]),
    makeDirectory: () => Promise.resolve(),
  }
  const processes: Pick<Processes, 'run'> = {
    run(program, args, { input = '' }) {
      const command = [program, ...args].join(' ')
      commands.push(command)
      inputs.push(...String(input).split('\n'))
      return Promise.resolve({ code: fails(command) ? 1 : 0, stdout: '', stderr: 'refused\n' })
    },
  }
  const kernelSettings = new SimulatedKernelSettings({ [forwarding.IPv4]: '0', [forwarding.IPv6]: '0' })
  return { written, commands, inputs, kernelSettings, files: files as Files, processes: processes as Processes }
}

const provide = (
  machine: ReturnType<typeof recordedMachine>,
  ranges: readonly string[] = podRanges,
  serviceRanges: readonly string[] = ['203.0.113.0/24', 'fd12:3456:789b::/112'],
) =>
  provideNodeNetwork(
    {
      podRanges: ranges,
      configurationDirectory,
      nodeAddress: '192.0.2.7',
      directory: '/var/lib/node',
      serviceRanges,
    },
    machine,
    signal,
  )

test('a network has a configuration for the runtime and a bridge with the gateway of each range', async () => {
  const machine = recordedMachine()
  const network = await provide(machine)
  deepEqual(network?.podRanges, podRanges)
  deepEqual(network.gateways, ['198.51.100.1', 'fd12:3456:789a::1'])
  const text = machine.written.get(`${configurationDirectory}/10-coxswain.conflist`) ?? ''
  const { plugins } = JSON.parse(text) as { plugins: { bridge: string; ipam: { ranges: unknown; dataDir: string } }[] }
  equal(plugins[0]?.bridge, 'coxswain0')
  equal(plugins[0].ipam.dataDir, '/var/lib/node/addresses')
  deepEqual(
    plugins[0].ipam.ranges,
    podRanges.map((subnet) => [{ subnet }]),
  )
  ok(machine.inputs.includes('addr replace 198.51.100.1/26 dev coxswain0'))
  ok(machine.inputs.includes('addr replace fd12:3456:789a::1/64 dev coxswain0'))
  deepEqual([...machine.kernelSettings.values.values()], ['1', '1'], 'packets of both families are forwarded')
  match(machine.inputs.join('\n'), /ip saddr 198\.51\.100\.0\/26 .* masquerade/)
  ok(!machine.commands.some((command) => command.includes('link add')), 'the existing bridge is kept')
})

test('a missing bridge is created, and addresses of Services without a route get one', async () => {
  const machine = recordedMachine([], (command) => /^ip (link show|route get)/.test(command))
  ok(await provide(machine))
  ok(machine.commands.includes('ip link add coxswain0 type bridge'))
  deepEqual(
    machine.commands.filter((command) => command.startsWith('ip route replace')),
    [
      'ip route replace 203.0.113.0/24 dev coxswain0 proto 118',
      'ip route replace fd12:3456:789b::/112 dev coxswain0 proto 118',
    ],
  )
})

test('a node without IPv6 changes no setting or route of IPv6', async () => {
  const machine = recordedMachine([], (command) => command.startsWith('ip route get'))
  deepEqual((await provide(machine, podRanges.slice(0, 1)))?.gateways, ['198.51.100.1'])
  ok(!machine.commands.some((command) => /fd12/.test(command)))
  equal(machine.kernelSettings.values.get(forwarding.IPv6), '0')
})

test('the network of another CNI plugin is left alone', async () => {
  const machine = recordedMachine(['05-calico.conflist'])
  equal(await provide(machine), undefined)
  deepEqual([machine.written.size, machine.commands], [0, []])
})

test('addresses of pods and Services in a network of this machine are an error, before anything is changed', async () => {
  const machine = recordedMachine()
  // Each machine has 127.0.0.0/8.
  await rejects(provide(machine, ['127.1.0.0/24']), /the addresses of pods, 127\.1\.0\.0\/24, overlap those of lo /)
  await rejects(provide(machine, podRanges, ['127.1.0.0/24']), /the addresses of Services, 127\.1\.0\.0\/24, overlap/)
  deepEqual([machine.written.size, machine.commands], [0, []])
})

const failures: [program: string, command: RegExp, message: RegExp][] = [
  ['ip', /^ip (link show|link add)/, /^Error: ip link add coxswain0 type bridge: refused$/],
  ['a batch of ip', /-batch/, /^Error: ip -batch: refused$/],
  ['nft', /^nft/, /^Error: nft: refused$/],
]
for (const [program, failing, message] of failures)
  test(`a failure of ${program} is an error with its output`, () =>
    rejects(provide(recordedMachine([], (command) => failing.test(command))), message))
