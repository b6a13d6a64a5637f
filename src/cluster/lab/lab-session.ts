// runLab: a session in which a broken cluster is repaired. Each line that is typed requests a hint, the explanation or a check.
import type { TestCluster } from '../testing/start-cluster.ts'
import { explainBroken, isRepaired } from './broken-cluster.ts'
import type { Situation } from './situations/situation.ts'

export interface LabTerminal {
  readonly out: (text: string) => void
  /** What is typed, line by line; ends with the input. */
  readonly lines: AsyncIterable<string>
}

const requests = 'Type hint, why, check or quit.\n'
const elsewhere =
  'Type commands of kubectl in another terminal, with the KUBECONFIG above; here: hint, why, check or quit.\n'

/** Whether the situation was repaired before the input ended. */
export async function runLab(
  situation: Situation,
  cluster: TestCluster,
  kubeconfigPath: string,
  { out, lines }: LabTerminal,
): Promise<boolean> {
  const { story, hints, asked } = situation
  const where = asked.namespace === '' ? '' : ` -n ${asked.namespace}`
  out(
    [
      `${story}\n`,
      'Repair it in another terminal, for example:',
      `  export KUBECONFIG=${kubeconfigPath}`,
      `  kubectl get ${asked.object.replace('/', ' ')}${where}`,
      '',
      requests,
    ].join('\n'),
  )
  let given = 0
  for await (const line of lines) {
    const word = line.trim()
    if (word === 'quit' || word === 'exit') return false
    if (word === 'hint') out(`${hints[given++] ?? 'There is no further hint; type why.'}\n`)
    else if (word === 'why') out((await explainBroken(cluster, situation)) ?? `${asked.object} does not exist.\n`)
    else if (word === 'check') {
      if (await isRepaired(cluster, situation)) {
        out('Repaired.\n')
        return true
      }
      out('It is not repaired yet. Changes may take some seconds.\n')
    } else out(/^(?:kubectl|coxswain|export)\s/.test(word) ? elsewhere : requests)
  }
  return false
}
