import { deepEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { parseSockets } from './listening-ports.ts'
import { nodeListeningPorts } from './node-listening-ports.ts'

const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const tableOf = (...rows: readonly (readonly [local: string, state: string])[]) =>
  [header, ...rows.map(([local, state], at) => `   ${at}: ${local} 00000000:0000 ${state} 00000000:00000000`)].join(
    '\n',
  )

test('sockets that receive are found, with the addresses of both families', () => {
  const rows = [
    ['00000000:0016', '0A'],
    ['0100007F:1F90', '0A'],
    ['0A0200C0:0050', '01'],
    ['0A0200C0:0051', '0A'],
    ['00000000000000000000000000000000:0052', '0A'],
    ['B80D0120000000000000000001000000:0053', '0A'],
    ['0000000000000000FFFF00000A0200C0:0054', '0A'],
    ['0000000000000000FFFF000000000000:0055', '0A'],
    ['nonsense', '0A'],
  ] as const
  deepEqual(
    parseSockets(tableOf(...rows), 'TCP').map(({ address, port }) => `${address ?? 'all'} ${port}`),
    [...['all 22', '127.0.0.1 8080', '192.0.2.10 81', 'all 82', '2001:db8::1 83', '192.0.2.10 84', 'all 85']],
  )
})

test('UDP sockets with a peer do not count', () => {
  const row = (port: string, state: string, inode: number) =>
    `  0: 00000000:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  0  0 ${inode} 1`
  const sockets = parseSockets([header, row('0035', '07', 17), row('0036', '01', 18)].join('\n'), 'UDP')
  deepEqual(sockets, [{ protocol: 'UDP', address: undefined, port: 53, inode: '17' }])
})

/** Opens a socket of each protocol, and prints their ports until its input ends. */
const program = `
const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
  const socket = require('node:dgram').createSocket('udp4').bind(0, '127.0.0.1', () => {
    console.log(server.address().port + ' ' + socket.address().port)
    process.stdin.resume().on('end', () => process.exit())
  })
})`

test('the sockets of this machine, without those of this process on the given ports', async () => {
  const listening = async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, port: (server.address() as AddressInfo).port }
  }
  const first = await listening()
  const second = await listening()
  const other = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(other.stdout, 'data')) as [Buffer]
  const [tcp = 0, udp = 0] = line.toString().trim().split(' ').map(Number)
  const found = await nodeListeningPorts([first.port, tcp, udp]).read()
  first.server.close()
  second.server.close()
  other.stdin.end()
  await once(other, 'exit')
  const isFound = (protocol: string, port: number) =>
    found.some((each) => each.protocol === protocol && each.port === port && each.address === '127.0.0.1')
  deepEqual([isFound('TCP', first.port), isFound('TCP', second.port)], [false, true])
  deepEqual([isFound('TCP', tcp), isFound('UDP', udp)], [true, true])
  deepEqual(await nodeListeningPorts([], '/nowhere').read(), [])
})
