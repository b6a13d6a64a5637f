// coxswain scheduler: the scheduler, in a process separate from the API server.
import { readFile } from 'node:fs/promises'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { runScheduler } from '../../cluster/run/run-scheduler.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { schedulerConfiguration } from '../options/scheduler-config.ts'

const portDefault = '10259'

export const scheduler = defineCommand({
  name: 'scheduler',
  summary: 'runs the scheduler against any API server, with leader election',
  operands: '',
  options: {
    kubeconfig: { type: 'string', value: '<file>', help: 'the kubeconfig of the API server ($KUBECONFIG)' },
    config: { type: 'string', value: '<file>', help: 'a KubeSchedulerConfiguration: profiles, plugins and extenders' },
    'bind-address': { type: 'string', value: '<address>', help: 'the address of /healthz and /metrics (127.0.0.1)' },
    'secure-port': {
      type: 'string',
      value: '<port>',
      help: `the port of /healthz and /metrics; 0 serves neither (${portDefault})`,
    },
    verbose: { type: 'boolean', short: 'v', help: 'log more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal }) {
    const path = options.kubeconfig ?? environment['KUBECONFIG']
    if (path === undefined) throw new UsageError('name a kubeconfig with --kubeconfig or $KUBECONFIG')
    const { 'bind-address': host = '127.0.0.1', 'secure-port': portText = portDefault } = options
    const port = Number(portText)
    if (!/^\d+$/.test(portText) || port > 65_535)
      throw new UsageError(`--secure-port ${JSON.stringify(portText)} is not a number from 0 to 65535`)
    const format = isTerminal ? 'text' : 'json'
    const log = createLog({ clock: realClock, write: err, format, level: options.verbose ? 'debug' : 'info' })
    const kubeconfig = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new UsageError(`cannot read the kubeconfig ${path}`, { cause: error })
    })
    const configuration = await schedulerConfiguration('--config', options.config)
    const serve = port === 0 ? {} : { serve: { host, port } }
    await runScheduler({ kubeconfig, configuration, log, ...serve, onLead: () => out('leading\n') }, signal)
    return 0
  },
})
