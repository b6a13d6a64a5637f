// A listener in a separate process, whose file descriptors a test exhausts. Prints its port and its log.
import { realClock } from '../../../base/time/clock.ts'
import { createLog } from '../../../base/observability/log.ts'
import { shedReport } from '../../limits/shed-report.ts'
import { nodeListeners } from './listener.ts'

const [, , place = '', ca = '', certificate = '', key = ''] = process.argv
const log = createLog({ clock: realClock, write: (line) => void process.stdout.write(line), format: 'json' })
const listeners = place === 'in a thread' ? nodeListeners.startTlsThread() : nodeListeners
const { port } = await listeners.listen({
  host: '127.0.0.1',
  port: 0,
  tls: { certificate, key, clientAuthorities: { users: ca } },
  handle: () => ({ status: 200, headers: {}, body: 'ok' }),
  onShed: shedReport({ log, clock: realClock }),
})
log.info('listening', { port })
