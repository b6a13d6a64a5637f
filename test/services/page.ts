// The examples of docs/testing-services.md, as one program.

export function serviceExamples(page: string): string {
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  if (blocks.length === 0) throw new Error('the page has no examples')
  return blocks.join('\n')
}
