// A server of the same runtime that returns every datagram unchanged: what remains if answers cost nothing.
import { nodePlatform } from '../../src/platform/node/platform.ts'

const socket = await nodePlatform.sockets.bindDatagrams({
  host: '127.0.0.1',
  port: 0,
  onDatagram: (bytes, from) => socket.send(bytes, from),
})
process.send?.(socket.port)
