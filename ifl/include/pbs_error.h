/* pbs_error.h: the error numbers of the batch interface.
 *
 * Every integer function of pbs_ifl.h answers 0 (PBSE_NONE) or one of these numbers, which is then in
 * pbs_errno too. The text that a server sent with the last error is pbs_geterrmsg(). The numbers, and
 * what they are called, are those of every PBS; a program written for another one compiles unchanged.
 */
#ifndef _PBS_ERROR_H
#define _PBS_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define PBSE_     15000
#define PBSE_NONE 0

#define PBSE_UNKJOBID                       15001
#define PBSE_NOATTR                         15002
#define PBSE_ATTRRO                         15003
#define PBSE_IVALREQ                        15004
#define PBSE_UNKREQ                         15005
#define PBSE_TOOMANY                        15006
#define PBSE_PERM                           15007
#define PBSE_BADHOST                        15008
#define PBSE_JOBEXIST                       15009
#define PBSE_SYSTEM                         15010
#define PBSE_INTERNAL                       15011
#define PBSE_REGROUTE                       15012
#define PBSE_UNKSIG                         15013
#define PBSE_BADATVAL                       15014
#define PBSE_MODATRRUN                      15015
#define PBSE_BADSTATE                       15016
#define PBSE_UNKQUE                         15018
#define PBSE_BADCRED                        15019
#define PBSE_EXPIRED                        15020
#define PBSE_QUNOENB                        15021
#define PBSE_QACESS                         15022
#define PBSE_BADUSER                        15023
#define PBSE_HOPCOUNT                       15024
#define PBSE_QUEEXIST                       15025
#define PBSE_ATTRTYPE                       15026
#define PBSE_OBJBUSY                        15027
#define PBSE_QUENBIG                        15028
#define PBSE_NOSUP                          15029
#define PBSE_QUENOEN                        15030
#define PBSE_PROTOCOL                       15031
#define PBSE_BADATLST                       15032
#define PBSE_NOCONNECTS                     15033
#define PBSE_NOSERVER                       15034
#define PBSE_UNKRESC                        15035
#define PBSE_EXCQRESC                       15036
#define PBSE_QUENODFLT                      15037
#define PBSE_NORERUN                        15038
#define PBSE_ROUTEREJ                       15039
#define PBSE_ROUTEEXPD                      15040
#define PBSE_MOMREJECT                      15041
#define PBSE_BADSCRIPT                      15042
#define PBSE_STAGEIN                        15043
#define PBSE_RESCUNAV                       15044
#define PBSE_BADGRP                         15045
#define PBSE_MAXQUED                        15046
#define PBSE_CKPBSY                         15047
#define PBSE_EXLIMIT                        15048
#define PBSE_BADACCT                        15049
#define PBSE_ALRDYEXIT                      15050
#define PBSE_NOCOPYFILE                     15051
#define PBSE_CLEANEDOUT                     15052
#define PBSE_NOSYNCMSTR                     15053
#define PBSE_BADDEPEND                      15054
#define PBSE_DUPLIST                        15055
#define PBSE_DISPROTO                       15056
#define PBSE_EXECTHERE                      15057
#define PBSE_SISREJECT                      15058
#define PBSE_SISCOMM                        15059
#define PBSE_SVRDOWN                        15060
#define PBSE_CKPSHORT                       15061
#define PBSE_UNKNODE                        15062
#define PBSE_UNKNODEATR                     15063
#define PBSE_NONODES                        15064
#define PBSE_NODENBIG                       15065
#define PBSE_NODEEXIST                      15066
#define PBSE_BADNDATVAL                     15067
#define PBSE_MUTUALEX                       15068
#define PBSE_GMODERR                        15069
#define PBSE_NORELYMOM                      15070
#define PBSE_NOTSNODE                       15071
#define PBSE_RESV_NO_WALLTIME               15075
#define PBSE_JOBNOTRESV                     15076
#define PBSE_TOOLATE                        15077
#define PBSE_IRESVE                         15078
#define PBSE_RESVEXIST                      15080
#define PBSE_resvFail                       15081
#define PBSE_genBatchReq                    15082
#define PBSE_mgrBatchReq                    15083
#define PBSE_UNKRESVID                      15084
#define PBSE_delProgress                    15085
#define PBSE_BADTSPEC                       15086
#define PBSE_RESVMSG                        15087
#define PBSE_NOTRESV                        15088
#define PBSE_BADNODESPEC                    15089
#define PBSE_UNUSED1                        15090
#define PBSE_LICENSEINV                     15091
#define PBSE_RESVAUTH_H                     15092
#define PBSE_RESVAUTH_G                     15093
#define PBSE_RESVAUTH_U                     15094
#define PBSE_R_UID                          15095
#define PBSE_R_GID                          15096
#define PBSE_IBMSPSWITCH                    15097
#define PBSE_UNUSED2                        15098
#define PBSE_NOSCHEDULER                    15099
#define PBSE_RESCNOTSTR                     15100
#define PBSE_MaxArraySize                   15107
#define PBSE_INVALSELECTRESC                15108
#define PBSE_INVALJOBRESC                   15109
#define PBSE_INVALNODEPLACE                 15110
#define PBSE_PLACENOSELECT                  15111
#define PBSE_INDIRECTHOP                    15112
#define PBSE_INDIRECTBT                     15113
#define PBSE_NODESTALE                      15115
#define PBSE_DUPRESC                        15116
#define PBSE_CONNFULL                       15117
#define PBSE_LICENSE_MIN_BADVAL             15118
#define PBSE_LICENSE_MAX_BADVAL             15119
#define PBSE_LICENSE_LINGER_BADVAL          15120
#define PBSE_UNUSED3                        15121
#define PBSE_UNUSED4                        15122
#define PBSE_BAD_FORMULA                    15123
#define PBSE_BAD_FORMULA_KW                 15124
#define PBSE_BAD_FORMULA_TYPE               15125
#define PBSE_BAD_RRULE_YEARLY               15126
#define PBSE_BAD_RRULE_MONTHLY              15127
#define PBSE_BAD_RRULE_WEEKLY               15128
#define PBSE_BAD_RRULE_DAILY                15129
#define PBSE_BAD_RRULE_HOURLY               15130
#define PBSE_BAD_RRULE_MINUTELY             15131
#define PBSE_BAD_RRULE_SECONDLY             15132
#define PBSE_BAD_RRULE_SYNTAX               15133
#define PBSE_BAD_RRULE_SYNTAX2              15134
#define PBSE_BAD_ICAL_TZ                    15135
#define PBSE_HOOKERROR                      15136
#define PBSE_NEEDQUET                       15137
#define PBSE_ETEERROR                       15138
#define PBSE_HISTJOBID                      15139
#define PBSE_JOBHISTNOTSET                  15140
#define PBSE_MIXENTLIMS                     15141
#define PBSE_ENTLIMCT                       15142
#define PBSE_ENTLIMRESC                     15143
#define PBSE_ATVALERANGE                    15144
#define PBSE_PROV_HEADERROR                 15145
#define PBSE_NODEPROV_NOACTION              15146
#define PBSE_NODEPROV                       15147
#define PBSE_NODEPROV_NODEL                 15148
#define PBSE_NODE_BAD_CURRENT_AOE           15149
#define PBSE_NOLOOPBACKIF                   15153
#define PBSE_IVAL_AOECHUNK                  15155
#define PBSE_JOBINRESV_CONFLICT             15156
#define PBSE_NORUNALTEREDJOB                15157
#define PBSE_HISTJOBDELETED                 15158
#define PBSE_NOHISTARRAYSUBJOB              15159
#define PBSE_FORCE_QSUB_UPDATE              15160
#define PBSE_SAVE_ERR                       15161
#define PBSE_MAX_NO_MINWT                   15162
#define PBSE_MIN_GT_MAXWT                   15163
#define PBSE_NOSTF_RESV                     15164
#define PBSE_NOSTF_JOBARRAY                 15165
#define PBSE_NOLIMIT_RESOURCE               15166
#define PBSE_MOM_INCOMPLETE_HOOK            15167
#define PBSE_MOM_REJECT_ROOT_SCRIPTS        15168
#define PBSE_HOOK_REJECT                    15169
#define PBSE_HOOK_REJECT_RERUNJOB           15170
#define PBSE_HOOK_REJECT_DELETEJOB          15171
#define PBSE_IVAL_OBJ_NAME                  15172
#define PBSE_JOBNBIG                        15173
#define PBSE_RESCBUSY                       15174
#define PBSE_JOBSCRIPTMAXSIZE               15175
#define PBSE_BADJOBSCRIPTMAXSIZE            15176
#define PBSE_WRONG_RESUME                   15177
#define PBSE_RESV_NOT_EMPTY                 15178
#define PBSE_STDG_RESV_OCCR_CONFLICT        15179
#define PBSE_SOFTWT_STF                     15180
#define PBSE_RESV_FROM_RESVJOB              15181
#define PBSE_RESV_FROM_ARRJOB               15182
#define PBSE_SELECT_NOT_SUBSET              15183
#define PBSE_RMUNKNOWN                      15201
#define PBSE_RMBADPARAM                     15202
#define PBSE_RMNOPARAM                      15203
#define PBSE_RMEXIST                        15204
#define PBSE_RMSYSTEM                       15205
#define PBSE_RMPART                         15206
#define PBSE_TRYAGAIN                       15208
#define PBSE_ALPSRELERR                     15209
#define PBSE_JOB_MOVED                      15210
#define PBSE_SCHEDEXIST                     15211
#define PBSE_SCHED_NAME_BIG                 15212
#define PBSE_UNKSCHED                       15213
#define PBSE_SCHED_NO_DEL                   15214
#define PBSE_SCHED_PRIV_EXIST               15215
#define PBSE_SCHED_LOG_EXIST                15216
#define PBSE_ROUTE_QUE_NO_PARTITION         15217
#define PBSE_CANNOT_SET_ROUTE_QUE           15218
#define PBSE_QUE_NOT_IN_PARTITION           15219
#define PBSE_PARTITION_NOT_IN_QUE           15220
#define PBSE_INVALID_PARTITION_QUE          15221
#define PBSE_ALPS_SWITCH_ERR                15222
#define PBSE_SCHED_OP_NOT_PERMITTED         15223
#define PBSE_SCHED_PARTITION_ALREADY_EXISTS 15224
#define PBSE_INVALID_MAX_JOB_SEQUENCE_ID    15225
#define PBSE_SVR_SCHED_JSF_INCOMPAT         15226
#define PBSE_NODE_BUSY                      15227
#define PBSE_DEFAULT_PARTITION              15228
#define PBSE_HISTDEPEND                     15229
#define PBSE_SCHEDCONNECTED                 15230
#define PBSE_NOTARRAY_ATTR                  15231

/* What the resource monitor interface (rm.h) calls some of them. */
#define RM_ERR_UNKNOWN  PBSE_RMUNKNOWN
#define RM_ERR_BADPARAM PBSE_RMBADPARAM
#define RM_ERR_NOPARAM  PBSE_RMNOPARAM
#define RM_ERR_EXIST    PBSE_RMEXIST
#define RM_ERR_SYSTEM   PBSE_RMSYSTEM

/* The calling thread's last error, as pbs_ifl.h declares it too. */
#ifndef pbs_errno
extern int *__pbs_errno_location(void);
#define pbs_errno (*__pbs_errno_location())
#endif

#ifdef __cplusplus
}
#endif
#endif /* _PBS_ERROR_H */
