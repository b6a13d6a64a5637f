// coxswain apiserver: the API server alone. Controllers, scheduler and kubelets connect with kubeconfigs.
import { once } from 'node:events'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { up } from '../../cluster/run/up.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand } from '../command/command.ts'
import { serverChoicesOf, serverOptions } from '../options/server-options.ts'

export const apiserver = defineCommand({
  name: 'apiserver',
  summary: 'runs the API server without the other components, on SQLite or etcd',
  operands: '',
  configFile: 'named',
  options: { ...configFileOption, ...serverOptions, verbose: { type: 'boolean', short: 'v', help: 'log more' } },
  async run({ options }, { out, err, isTerminal, environment, signal, startedMs }) {
    const choices = serverChoicesOf(options, environment)
    const level = options.verbose ? 'debug' : 'info'
    const log = createLog({ clock: realClock, write: err, format: isTerminal ? 'text' : 'json', level })
    await using running = await up({ ...choices, nodes: 0, isAlone: true, log })
    out(`ready in ${Math.round(realClock.nowMs() - startedMs)} ms at ${running.url}\n`)
    out(`
  kubeconfigs  ${choices.kubeconfigPath}
               ${choices.dataDirectory}/controller-manager.kubeconfig
               ${choices.dataDirectory}/scheduler.kubeconfig
`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
})
