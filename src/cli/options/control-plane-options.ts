// Options of the commands that run a control plane: `up` and `server`.
import { resolve } from 'node:path'
import { controllerFlags } from '../../cluster/flags/controller-flags.ts'
import { loadBalancerChoiceOf, loadBalancerFlags } from '../../cluster/flags/load-balancer-flags.ts'
import { nodeRangeFlags } from '../../cluster/flags/node-ranges.ts'
import { signingDurationFlag } from '../../cluster/flags/signing-duration.ts'
import { inSection, type Arguments, type CommandOption } from '../command/command.ts'
import { asUsage } from './component-options.ts'
import { snapshotChoicesOf, snapshotOptions } from './snapshot-options.ts'
import { schedulerConfiguration } from './scheduler-config.ts'

export const controlPlaneOptions = {
  'scheduler-config': {
    type: 'string',
    value: '<file>',
    help: 'a KubeSchedulerConfiguration: profiles, plugins and extenders of the scheduler',
    section: 'Scheduler',
  },
  ...inSection(loadBalancerFlags, 'Services'),
  'volume-snapshots': {
    type: 'boolean',
    help: 'install the kinds of volume snapshots (snapshot.storage.k8s.io/v1) and run their controller',
    section: 'Storage',
  },
  ...snapshotOptions,
  manifests: {
    type: 'string',
    value: '<folder>',
    help: 'a folder whose YAML and JSON files are applied, and whose removed files are deleted (manifests in the data directory)',
  },
  ...inSection(controllerFlags, 'Controllers'),
  'gateway-api': {
    type: 'boolean',
    help: 'install the kinds of the Gateway API (gateway.networking.k8s.io), and serve Gateways where Ingresses are served',
    section: 'Ingress',
  },
  ...inSection(nodeRangeFlags, 'Addresses of pods'),
  ...inSection(signingDurationFlag, 'Certificates'),
} as const satisfies Record<string, CommandOption>

export const controlPlaneChoicesOf = async (options: Arguments<typeof controlPlaneOptions>['options']) => ({
  nodeRangeFlags: options,
  controllerFlags: options,
  loadBalancers: asUsage(() => loadBalancerChoiceOf(options)),
  hasVolumeSnapshots: options['volume-snapshots'] ?? false,
  snapshots: await snapshotChoicesOf(options),
  manifests: options.manifests === undefined ? undefined : resolve(options.manifests),
  hasGatewayApi: options['gateway-api'] ?? false,
  signingDuration: options['cluster-signing-duration'],
  schedulerConfiguration: await schedulerConfiguration('--scheduler-config', options['scheduler-config']),
})
