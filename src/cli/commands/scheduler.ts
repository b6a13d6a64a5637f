// coxswain scheduler: the scheduler, in a process separate from the API server.
import { featureGateFlag, gatesOf } from '../../cluster/flags/feature-flags.ts'
import { runScheduler } from '../../cluster/run/run-scheduler.ts'
import { defineCommand } from '../command/command.ts'
import {
  asUsage,
  componentLog,
  kubeconfigOption,
  portOption,
  readKubeconfig,
  verboseOption,
} from '../options/component-options.ts'
import { schedulerConfiguration } from '../options/scheduler-config.ts'

const portDefault = '10259'

export const scheduler = defineCommand({
  name: 'scheduler',
  summary: 'runs the scheduler against any API server, with leader election',
  operands: '',
  options: {
    ...kubeconfigOption,
    config: { type: 'string', value: '<file>', help: 'a KubeSchedulerConfiguration: profiles, plugins and extenders' },
    'bind-address': { type: 'string', value: '<address>', help: 'the address of /healthz and /metrics (127.0.0.1)' },
    'secure-port': {
      type: 'string',
      value: '<port>',
      help: `the port of /healthz and /metrics; 0 serves neither (${portDefault})`,
    },
    ...featureGateFlag,
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const { 'bind-address': host = '127.0.0.1', 'secure-port': portText = portDefault } = options
    const port = portOption('secure-port', portText)
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal)
    const log = componentLog(options.verbose, terminal)
    const configuration = await schedulerConfiguration('--config', options.config)
    const serve = port === 0 ? {} : { serve: { host, port } }
    const features = asUsage(() => gatesOf(options))
    const onLead = () => out('leading\n')
    await runScheduler({ kubeconfig, configuration, log, ...serve, ...features, onLead }, signal)
    return 0
  },
})
