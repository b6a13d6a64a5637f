// coxswain kubelet: makes this machine, or a simulated one, a node of any cluster with a kubeconfig.
import { join, resolve } from 'node:path'
import { runKubelet } from '../../cluster/run/run-kubelet.ts'
import { defineCommand } from '../command/command.ts'
import { dataDirectoryOf } from '../options/data-directory-option.ts'
import { nodeChoicesOf, nodeOptions } from '../options/node-options.ts'

export const kubelet = defineCommand({
  name: 'kubelet',
  summary: 'makes this machine a node of any cluster',
  operands: '',
  options: {
    kubeconfig: {
      type: 'string',
      value: '<file>',
      help: 'the kubeconfig of the API server; written when the node joins (kubelet.kubeconfig in the data directory)',
    },
    'bootstrap-kubeconfig': {
      type: 'string',
      value: '<file>',
      help: 'a kubeconfig with a bootstrap token, with which the node requests its first certificate',
    },
    config: { type: 'string', value: '<file>', help: 'a KubeletConfiguration; flags override it' },
    'data-dir': {
      type: 'string',
      value: '<directory>',
      help: 'the data directory of the node (~/.local/share/coxswain/kubelet)',
    },
    ...nodeOptions,
  },
  async run({ options }, terminal) {
    const { 'data-dir': directory, 'bootstrap-kubeconfig': bootstrap } = options
    const dataDirectory = resolve(directory ?? join(dataDirectoryOf({}, terminal.environment), 'kubelet'))
    await runKubelet(
      {
        kubeconfigPath: resolve(options.kubeconfig ?? join(dataDirectory, 'kubelet.kubeconfig')),
        bootstrap: bootstrap === undefined ? undefined : { kind: 'kubeconfig', path: resolve(bootstrap) },
        bootstrapFlags: '--bootstrap-kubeconfig',
        dataDirectory,
        ...(await nodeChoicesOf(options, { flag: 'config', path: options.config }, terminal)),
      },
      terminal.signal,
    )
    return 0
  },
})
