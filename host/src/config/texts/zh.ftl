# 系统文字(中文)。各文件的键相同;值写作 { $name }。

## 一轮对话的结果
turn-empty = 我没有要补充的内容。
turn-stopped = 已停止。
turn-shutdown = 程序正在关闭,这条消息没有处理完。
turn-lease-deadline = 机器人更新后这一轮耗时过长,已被结束。正在执行的操作结果未知。
turn-failed-model-unavailable = 语言模型目前无法连接,请稍后再试。({ $turn })
turn-failed-model-rejected = 语言模型认为请求有误而拒绝。管理员可用 { $turn } 查找原因。
turn-failed-model-truncated = 回答一再被截断,请换一个更短的问题。({ $turn })
turn-failed-model-refused = 语言模型拒绝回答这个问题。({ $turn })
turn-failed-context-overflow = 这段对话对模型来说太长了。发送 /new 开始新对话。({ $turn })
turn-failed-prompt-overflow = 机器人的说明超出了上限,需要管理员缩短。({ $turn })
turn-failed-loop-guard = 我一直在重复同样的操作,已停下。({ $turn })
turn-failed-interrupted = 这件事完成之前我被重启了。({ $turn })
turn-interrupted-asked = 我在等待回答时被重启了；什么都没有执行。（{ $turn }）
turn-interrupted-done = 之前已完成，不会重复：{ $tools }。
turn-interrupted-unknown = 不知道是否已经生效，因此没有重复：{ $tools }。
turn-ask-again-how = 回复“{ $label }”，我会再回答一次这条消息。
answer-late = 之前的回答（你可能已经看过）：
turn-failed-journal-unavailable = 目前无法写入记录,因此没有执行任何有影响的操作。({ $turn })
turn-failed-internal = 内部出错。管理员可用 { $turn } 查找。
turn-budget-steps = 到此为止:已达到单条消息的步数上限。
turn-budget-time = 到此为止:单条消息的时间已用完。
turn-budget-tool-calls = 到此为止:已达到单条消息的工具调用上限。
turn-budget-tokens = 到此为止:已达到令牌上限。
turn-budget-cost = 到此为止:已达到费用上限。
turn-answer-cut = 回答在此被截断：已达到模型的长度上限。
turn-ask-again = 再问一次
history-cut = 这段对话中较早的消息放不下了,不再提供给模型。
history-summed-up = 这段对话中较早的消息已由摘要代替后提供给模型。
media-unusable = 模型无法使用你发送的文件,我只告诉了它文件名。

## 离线模型
offline-footer = 内置离线应答器:它按词语挑选工具,不是语言模型。
offline-no-tool = 我没有适合的工具。/help 可查看我能做什么。
offline-missing = 还需要:{ $names }。
offline-not-run = 好的,没有执行。
offline-failed = 没有成功:{ $reason }

## 等待
queue-still-waiting = 你的消息还在等待,我会处理的。
queue-full = 忙碌中,请稍候:这里等待的消息太多了。
inbound-dead = 你的消息无法处理,已通知管理员。
store-degraded = 目前无法保存任何内容,只能到此为止。

## 准入
access-stranger = 我不认识你。请让管理员添加你:{ $principal }
access-denied = 你无权使用。
agent-ambiguous = 有几个代理都叫 { $name }。请写其中一个：{ $names }。
agent-denied = 你在这里不能使用 @{ $name }。
command-unknown = 没有命令 /{ $name }。/help 可列出全部命令。
command-unknown-near = 没有命令 /{ $name }。你是指 /{ $nearest } 吗?
command-denied = 你无权使用 /{ $name }。
call-not-run = 好的,没有执行。
command-usage = 用法:{ $usage }
command-argument-missing = 缺少 { $name }。
command-argument-int = { $name } 应为整数，而不是“{ $word }”。
command-argument-number = { $name } 应为数字，而不是“{ $word }”。
command-argument-bool = { $name } 应为“是”或“否”，而不是“{ $word }”。
command-argument-extra = 多出了“{ $rest }”，我不知道该怎么处理。

## 提问与审批
approval-title = 可以运行 { $tool } 吗?
approval-asked-by = 由 { $name } 提出
approval-reason-declared = 此工具要求确认({ $value })
approval-reason-write = 它会修改数据
approval-reason-execute = 它会运行程序
approval-prompt = 请回答“是”或“否”。
approval-approved = { $name } 已批准。
approval-declined = { $name } 已拒绝。
approval-expired = 没有人及时回答:未运行。
approval-not-allowed = 只有有审批权限的人可以回答。
approval-button-once = 批准一次
approval-button-deny = 拒绝
question-lost = 我被重启了。
question-expired = 没有及时收到回答。
question-choose = 请用编号选择:{ $options }
question-invalid = 不符合要求:{ $reason }
button-invalid = 这个按钮已失效。

## 聊天命令
help-title = 我在这里能做什么
help-commands = 命令
help-skills = 技能
help-capabilities = 能力
help-nothing = 这里还没有可供你使用的内容。
help-owner-root = 本机器人
help-description-help = 我在这里能做什么
help-description-start = 问候
help-description-new = 开始新对话
help-description-compact = 用摘要代替较早的消息
help-description-stop = 停止正在进行的操作
help-description-retry = 重新回答上一条消息
help-description-tools = 你可以使用的工具
help-description-skills = 你可以使用的技能
help-description-why = 某个工具为何可用或不可用
help-description-status = 我的状态
help-description-reload = 重新加载插件文件夹
start-greeting = 我是 { $name }。
start-examples = 例如我可以:{ $examples }
start-hint = /help 可查看我在这里能做的一切。
new-started = 新对话从这里开始。
compact-done = 这段对话中较早的消息现已由摘要代替。
compact-nothing = 目前没有需要摘要的内容，现有消息都放得下。
compact-offline = 内置的离线应答器不会写摘要。
compact-off = 此机器人已关闭摘要功能。
compact-failed = 没有得到摘要，未作任何更改。
stop-idle = 没有正在进行的操作。
stop-stopped = 已停止。
retry-none = 没有可以重新回答的消息。
retry-running = 请等当前回答完成,或用 /stop 停止它。
tools-title = { $count } 个工具
tools-none = 这里没有可供你使用的工具。
tools-loaded = 已加载
skills-title = { $count } 个技能
skills-none = 这里没有可供你使用的技能。
why-usage = 请在 /why 后写上工具名。
why-unknown = 没有工具 { $name }。
why-unknown-near = 没有工具 { $name }。你是指 { $nearest } 吗?
why-admitted = 你可以使用 { $tool }。
why-denied = 你不能使用 { $tool }:{ $reason }
why-approval-allow = 它无需询问即可运行。
why-approval-ask = 运行前会先询问一个人。
why-approval-deny = 它对所有人都被拒绝。
status-up = 我运行正常。
status-degraded = 我在运行,但并非一切正常:{ $reasons }
status-generation = 第 { $number } 代,发布于 { $at }
status-desired-differs = 磁盘上的配置与当前生效的不同,且已被拒绝。
status-turns = 进行中:{ $running },等待中:{ $queued }
status-offline-model = 回答来自内置离线应答器,不是语言模型。
reload-published = 已重新加载:现在由第 { $number } 代回答。
reload-unchanged = 没有变化,仍由第 { $number } 代回答。
reload-rejected = 已拒绝,仍由第 { $number } 代回答。
reload-changes = 新增 { $added },移除 { $removed },更改 { $changed }。
reload-more = 另有 { $count } 条
