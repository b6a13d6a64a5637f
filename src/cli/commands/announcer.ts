// coxswain announcer: announces addresses of load balancers on this machine, in a process of its own.
import { hostname } from 'node:os'
import { addressPoolFlag, addressPoolOf } from '../../cluster/flags/load-balancer-flags.ts'
import { runAnnouncer } from '../../cluster/run/run-announcer.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { asUsage, componentLog, kubeconfigOption, readKubeconfig, verboseOption } from '../options/component-options.ts'

export const announcer = defineCommand({
  name: 'announcer',
  summary: 'announces addresses of load balancers on this machine over ARP and NDP',
  operands: '',
  configFile: 'named',
  options: {
    ...configFileOption,
    ...kubeconfigOption,
    ...addressPoolFlag,
    'hostname-override': { type: 'string', value: '<name>', help: 'the name of the Node (the name of this machine)' },
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const ranges = options['load-balancer-addresses']
    if (ranges === undefined) throw new UsageError('name the addresses with --load-balancer-addresses')
    await runAnnouncer(
      {
        pool: asUsage(() => addressPoolOf(ranges)),
        kubeconfig: await readKubeconfig(options.kubeconfig, terminal),
        nodeName: (options['hostname-override'] ?? hostname()).toLowerCase(),
        log: componentLog(options.verbose, terminal),
        onReady: () => out('ready\n'),
      },
      signal,
    )
    return 0
  },
})
