// Requests to paths of Coxswain's own, such as its flow events, on a running cluster.
import { connectKubeconfig } from './kubeconfig-connection.ts'

/** The parsed response; undefined when the path does not exist. */
export async function fetchCoxswainPath(
  kubeconfig: string,
  target: string,
  signal: AbortSignal,
  method: 'GET' | 'POST' = 'GET',
): Promise<unknown> {
  let text = ''
  for await (const piece of streamCoxswainPath(kubeconfig, target, signal, method)) text += piece
  return text === '' ? undefined : JSON.parse(text)
}

/** The text of the response as it arrives; empty when the path does not exist. */
export async function* streamCoxswainPath(
  kubeconfig: string,
  target: string,
  signal: AbortSignal,
  method: 'GET' | 'POST' = 'GET',
): AsyncGenerator<string> {
  const { outbound, headers } = await connectKubeconfig(kubeconfig, signal)
  try {
    const shown = { accept: 'application/json', ...(await headers(signal)) }
    const answer = await outbound.send({ method, target, headers: shown }, signal)
    const decoder = new TextDecoder()
    let refusal = ''
    for await (const bytes of answer.body) {
      const piece = decoder.decode(bytes, { stream: true })
      if (answer.status === 200) yield piece
      else refusal += piece
    }
    if (answer.status !== 200 && answer.status !== 404)
      throw new Error(`the server answered ${answer.status}: ${refusal.slice(0, 200)}`)
  } finally {
    await outbound.close()
  }
}
