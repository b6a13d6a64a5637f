// The server behind all proxies: it counts the heads of requests without a body and responds to each with a few bytes, so
// that it takes little of the time that is measured.
import { createServer, type AddressInfo } from 'node:net'

const response = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 12\r\n\r\nhello world\n')
const headEnd = Buffer.from('\r\n\r\n')

const server = createServer({ noDelay: true }, (socket) => {
  /** How many bytes of the end of a head have arrived. */
  let matched = 0
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    for (const byte of bytes) {
      matched = byte === headEnd[matched] ? matched + 1 : Number(byte === headEnd[0])
      if (matched < headEnd.length) continue
      matched = 0
      socket.write(response)
    }
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
