// coxswain cloud-controller-manager: the controllers of a cloud, with a provider in another process.
import { leaderElectionFlags, leaseSettingsOf } from '../../cluster/flags/leader-election-flags.ts'
import { runCloudControllerManager } from '../../cluster/run/run-cloud-controller-manager.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { asUsage, componentLog, kubeconfigOption, readKubeconfig, verboseOption } from '../options/component-options.ts'

export const cloudControllerManager = defineCommand({
  name: 'cloud-controller-manager',
  summary: 'connects any cluster to a cloud whose provider listens on a socket',
  operands: '',
  configFile: 'named',
  options: {
    ...configFileOption,
    ...kubeconfigOption,
    'cloud-provider-socket': { type: 'string', value: '<path>', help: 'the unix socket of the provider' },
    ...leaderElectionFlags,
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const providerSocket = options['cloud-provider-socket']
    if (providerSocket === undefined)
      throw new UsageError('name the socket of the provider with --cloud-provider-socket')
    await runCloudControllerManager(
      {
        providerSocket,
        lease: asUsage(() => leaseSettingsOf(options, 'cloud-controller-manager')),
        kubeconfig: await readKubeconfig(options.kubeconfig, terminal),
        log: componentLog(options.verbose, terminal),
        onLead: () => out('leading\n'),
      },
      signal,
    )
    return 0
  },
})
