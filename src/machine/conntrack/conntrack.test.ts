import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { ConntrackProgram } from './conntrack-program.ts'

const { signal } = new AbortController()
const flows = {
  family: 'IPv4',
  address: mustParseIp('10.96.0.10'),
  port: 53,
  endpoint: { address: mustParseIp('10.244.0.2'), port: 5353 },
} as const

function programThat(code: number, stderr: string, stdout = '') {
  const calls: (readonly string[])[] = []
  const run = (command: string, args: readonly string[]) => {
    calls.push([command, ...args])
    return Promise.resolve({ code, stdout, stderr })
  }
  return { calls, conntrack: new ConntrackProgram({ run }) }
}

test('flows are selected by their original destination and the endpoint that replies', async () => {
  const { calls, conntrack } = programThat(0, '')
  await conntrack.remove(flows, signal)
  deepEqual(calls, [
    [
      'conntrack',
      '-D',
      '-f',
      'ipv4',
      '-p',
      'udp',
      '--orig-dst',
      '10.96.0.10',
      '--orig-port-dst',
      '53',
      '--reply-src',
      '10.244.0.2',
      '--reply-port-src',
      '5353',
    ],
  ])
})

test('no such flows is a success; other failures are errors', async () => {
  await programThat(1, 'conntrack v1.4.7 (conntrack-tools): 0 flow entries have been deleted.\n').conntrack.remove(
    flows,
    signal,
  )
  await rejects(
    programThat(1, 'Operation not permitted').conntrack.remove(flows, signal),
    /exited with 1: Operation not/,
  )
})

test('a missing program is named, with what it is for', async () => {
  const run = () => Promise.reject(new Error('cannot start conntrack: spawn conntrack ENOENT'))
  const missing = /UDP clients may keep sending .* conntrack is not installed \(Debian: apt install conntrack\)/
  await rejects(new ConntrackProgram({ run }).remove(flows, signal), missing)
  await rejects(new ConntrackProgram({ run }).udpFlows(signal), missing)
  const denied = () => Promise.reject(new Error('cannot start conntrack: spawn conntrack EACCES'))
  await rejects(new ConntrackProgram({ run: denied }).remove(flows, signal), /EACCES/)
})

test('tracked flows are listed by destination and endpoint, each once', async () => {
  const client = 'src=10.244.0.9 dst=10.96.0.10 sport=4242 dport=53'
  const reply = 'src=10.244.0.2 dst=10.244.0.9 sport=5353 dport=4242 mark=0 use=1'
  const lines = [
    `udp      17 29 ${client} [UNREPLIED] ${reply}`,
    `udp      17 29 ${client.replace('4242', '4243')} ${reply.replace('4242', '4243')} [ASSURED]`,
    'udp      17 29 src=127.0.0.1',
    '',
  ]
  const { calls, conntrack } = programThat(0, '', lines.join('\n'))
  const found = { address: '10.96.0.10', port: 53, endpoint: { address: '10.244.0.2', port: 5353 } }
  deepEqual(await conntrack.udpFlows(signal), [
    { family: 'IPv4', ...found },
    { family: 'IPv6', ...found },
  ])
  deepEqual(
    calls.map((call) => call.join(' ')),
    ['conntrack -L -f ipv4 -p udp', 'conntrack -L -f ipv6 -p udp'],
  )
  await rejects(programThat(1, 'Operation not permitted').conntrack.udpFlows(signal), /Operation not permitted/)
})
