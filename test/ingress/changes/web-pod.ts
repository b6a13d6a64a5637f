// A pod in a network namespace of its own: an HTTP server that stops as well-behaved servers do. After SIGTERM it accepts no
// connection, completes its current responses and prints `drained`. The namespace exists until the input ends.
import { createServer } from 'node:http'
import { realClock } from '../../../src/base/time/clock.ts'

const responseMs = 20
let isDraining = false

const server = createServer((_incoming, outgoing) => {
  // Responses take a while, so that some are in progress whenever something changes.
  realClock.after(responseMs, () => {
    if (isDraining) outgoing.setHeader('connection', 'close')
    outgoing.end('ok')
  })
})
server.keepAliveTimeout = 0
server.listen(8080, '0.0.0.0', () => process.stdout.write('ready\n'))

process.on('SIGTERM', () => {
  isDraining = true
  server.close(() => process.stdout.write('drained\n'))
})
process.stdin.resume().on('end', () => process.exit())
