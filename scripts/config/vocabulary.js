/** Words that comments and pages do without: they leave open who acts (docs/glossary.md, CONTRIBUTING.md). */
const vague = ['nobody', 'somebody', 'anybody', 'whoever', 'whomever', 'whom', 'hears', 'heard', 'spoke']

export const vagueWord = new RegExp(`\\b(${vague.join('|')})\\b`, 'i')

/** An ESLint rule that finds them in comments. */
export const vocabulary = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { vague: 'say who acts, in the words of docs/glossary.md, instead of "{{word}}"' },
  },
  create: ({ sourceCode, report }) => ({
    Program() {
      for (const comment of sourceCode.getAllComments()) {
        const [word] = vagueWord.exec(comment.value) ?? []
        if (word !== undefined) report({ loc: comment.loc, messageId: 'vague', data: { word } })
      }
    },
  }),
}
