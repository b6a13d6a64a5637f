import { deepEqual, ok } from 'node:assert/strict'
import { createSocket } from 'node:dgram'
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
  const sockets = parseSockets(tableOf(['00000000:0035', '07'], ['00000000:0036', '01']), 'UDP')
  deepEqual(sockets, [{ protocol: 'UDP', address: undefined, port: 53 }])
})

test('the sockets of this machine', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const wanted = [
    { protocol: 'TCP', port: (server.address() as AddressInfo).port },
    { protocol: 'UDP', port: socket.address().port },
  ]
  const found = await nodeListeningPorts().read()
  server.close()
  socket.close()
  for (const { protocol, port } of wanted)
    ok(
      found.some((each) => each.protocol === protocol && each.port === port && each.address === '127.0.0.1'),
      `${port}/${protocol}`,
    )
  deepEqual(await nodeListeningPorts('/nowhere').read(), [])
})
