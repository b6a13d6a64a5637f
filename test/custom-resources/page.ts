// The examples about custom resources in docs/testing-operators.md, as one program.

export function customResourceExamples(page: string): string {
  const [, section = ''] = /^## Custom resources and operators$([^]*?)^## /m.exec(page) ?? []
  const blocks = [...section.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  if (blocks.length === 0) throw new Error('the page has no examples of custom resources')
  return blocks.join('\n')
}
