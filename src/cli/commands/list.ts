// coxswain list: the clusters of this machine.
import { listClusters, type ListedCluster } from '../../cluster/data-directory/list-clusters.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { clustersFolder, dataDirectoryOf } from '../options/data-directory-option.ts'
import { textTable } from '../output/text-table.ts'

const formats: Readonly<Record<string, (clusters: readonly ListedCluster[]) => string>> = {
  json: (clusters) => `${JSON.stringify({ clusters: clusters.map(asJson) }, undefined, 2)}\n`,
  name: (clusters) => clusters.map(({ name }) => `${name}\n`).join(''),
}

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'lists the clusters that coxswain up has started here, running or not; without those of a --data-dir',
  operands: '',
  options: {
    output: { type: 'string', short: 'o', value: Object.keys(formats).join('|'), help: 'the format (a table)' },
  },
  async run({ options: { output } }, { out, environment }) {
    const format = output === undefined ? tableOf : Object.entries(formats).find(([name]) => name === output)?.[1]
    if (format === undefined)
      throw new UsageError(`--output ${JSON.stringify(output)} is none of ${Object.keys(formats).join(', ')}`)
    out(format(await listClusters(dataDirectoryOf({}, environment), clustersFolder(environment))))
    return 0
  },
})

function tableOf(clusters: readonly ListedCluster[]): string {
  if (clusters.length === 0) return 'There is no cluster. Start one: coxswain up\n'
  const rows = clusters.map(({ name, pid, server = '', directory }) => [
    name,
    pid === undefined ? 'stopped' : 'running',
    server,
    directory,
  ])
  return textTable([['NAME', 'STATUS', 'SERVER', 'DATA DIRECTORY'], ...rows])
}

const asJson = ({ name, pid, server, directory }: ListedCluster) => ({
  name,
  status: pid === undefined ? 'stopped' : 'running',
  pid,
  server,
  dataDirectory: directory,
  kubeconfig: `${directory}/admin.kubeconfig`,
})
