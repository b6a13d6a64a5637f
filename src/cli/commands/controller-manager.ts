// coxswain controller-manager: all controllers, in a process separate from the API server.
import { resolve } from 'node:path'
import { signingDurationFlag } from '../../cluster/flags/signing-duration.ts'
import { controllerManagerFlags, controllerManagerSettings } from '../../cluster/flags/controller-manager-flags.ts'
import { featureGateFlag, gatesOf } from '../../cluster/flags/feature-flags.ts'
import { nodeRangeFlags } from '../../cluster/flags/node-ranges.ts'
import { runControllerManager } from '../../cluster/run/run-controller-manager.ts'
import { configFileOption } from '../command/config-file.ts'
import { defineCommand, inSection, UsageError } from '../command/command.ts'
import {
  asUsage,
  componentLog,
  kubeconfigOption,
  readKubeconfig,
  readOptionFile,
  verboseOption,
} from '../options/component-options.ts'

export const controllerManager = defineCommand({
  name: 'controller-manager',
  summary: 'runs the controllers against any API server, with leader election',
  operands: '',
  configFile: 'named',
  options: {
    ...configFileOption,
    ...kubeconfigOption,
    'cluster-signing-cert-file': {
      type: 'string',
      value: '<file>',
      help: 'the CA that signs CertificateSigningRequests',
    },
    'cluster-signing-key-file': { type: 'string', value: '<file>', help: 'the key of that CA' },
    ...signingDurationFlag,
    ...controllerManagerFlags,
    ...inSection(nodeRangeFlags, 'Addresses of pods'),
    ...featureGateFlag,
    ...verboseOption,
  },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal)
    const log = componentLog(options.verbose, terminal)
    const read = (what: string, file: string) => readOptionFile(`the ${what}`, file)
    const { 'cluster-signing-cert-file': certificate, 'cluster-signing-key-file': key } = options
    if ((certificate === undefined) !== (key === undefined))
      throw new UsageError('--cluster-signing-cert-file and --cluster-signing-key-file belong together')
    const signing =
      certificate === undefined || key === undefined
        ? {}
        : { signing: { certificate: await read('certificate', certificate), key: await read('key', key) } }
    const settings = controllerManagerSettings(options)
    const optional = async (flag: 'service-account-private-key-file' | 'root-ca-file', what: string) =>
      options[flag] === undefined ? undefined : read(what, options[flag])
    const accountKey = await optional('service-account-private-key-file', 'key')
    const rootAuthority = await optional('root-ca-file', 'authority')
    const files = [
      options.kubeconfig ?? terminal.environment['KUBECONFIG'],
      certificate,
      key,
      options['service-account-private-key-file'],
      options['root-ca-file'],
    ]
    await runControllerManager(
      {
        kubeconfig,
        log,
        files: files.flatMap((file) => (file === undefined ? [] : [resolve(file)])),
        nodeRangeFlags: options,
        signingDuration: options['cluster-signing-duration'],
        ...settings,
        ...asUsage(() => gatesOf(options)),
        ...signing,
        ...(accountKey === undefined ? {} : { accountKey }),
        ...(rootAuthority === undefined ? {} : { rootAuthority }),
        onLead: () => out('leading\n'),
      },
      signal,
    )
    return 0
  },
})
